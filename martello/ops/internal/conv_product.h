#pragma once
#include <martello/graph/kernel.h>
#include <martello/ops/internal/conv_attrs.h>

namespace martello::internal {

inline constexpr char kProductName[] = "product";

// Results and gradients of the kernel for few pixels, in f32 and channels last.
bool is_for_product(const ConvProblem& p, ConvDirection direction);
// Whether it beats a convolution that copies its kernel into the library's layout first. Where a run keeps that copy,
// as one that writes no variable does, it takes as long.
bool is_product_faster(const ConvProblem& p, ConvDirection direction);

// See Note [Convolution as a product].
Kernel product_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task);

}  // namespace martello::internal
