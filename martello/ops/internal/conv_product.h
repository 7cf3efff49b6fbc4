#pragma once
#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/ops/internal/conv_attrs.h>

namespace martello::internal {

inline constexpr char kProductName[] = "product";

// Results and gradients for few pixels, channels last; in bf16 for many as well, under a window of one pixel.
bool is_for_product(const ConvProblem& p, ConvDirection direction);
// Whether it beats a convolution that copies its kernel into the library's layout first. Where a run keeps that copy,
// as one that writes no variable does, it takes as long. `library` is how the library multiplies in bf16.
bool is_product_faster(const ConvProblem& p, ConvDirection direction, onednn::Bf16 library = onednn::bf16_support());

// See Note [Convolution as a product].
Kernel product_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task);

}  // namespace martello::internal
