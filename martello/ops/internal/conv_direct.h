#pragma once
#include <martello/graph/kernel.h>
#include <martello/ops/internal/conv_attrs.h>
#include <martello/ops/internal/pool_shape.h>

namespace martello::internal {

inline constexpr char kDirectName[] = "own direct";

// Forward, with few numbers under a window, in f32 and channels last.
bool is_for_direct(const ConvProblem& p, ConvDirection direction);
// Whether it beats the library on the machines we know.
bool is_direct_faster(const ConvProblem& p, ConvDirection direction);

// See Note [Direct convolution].
Kernel direct_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task);
// The largest of each window of what direct_kernel() computes.
Kernel direct_pool_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task, const PoolAxes& pool);

}  // namespace martello::internal
