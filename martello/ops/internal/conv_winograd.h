#pragma once
#include <martello/graph/kernel.h>
#include <martello/ops/internal/conv_attrs.h>
#include <martello/ops/internal/pool_shape.h>

namespace martello::internal {

inline constexpr char kWinogradName[] = "own winograd";

// Windows of 3x3 without stride, holes or groups, in f32 and channels last. Its products are fewer than those of the
// definition, its rounding errors larger (two to four times), and a NaN or an infinity spreads over a tile of 4x4
// pixels.
bool is_for_winograd(const ConvProblem& p);
// Whether it beats direct convolution on the machines we know.
bool is_winograd_faster(const ConvProblem& p, ConvDirection direction);

// See Note [Winograd]. Our loops give the same bits with any number of threads; products with a large kernel are
// oneDNN's.
Kernel winograd_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task);
// Of what winograd_kernel() computes, the largest of each window, where windows are 2x2 pixels of a tile.
Kernel winograd_pool_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task);
bool are_of_tiles(const PoolAxes& windows);
// Its third direction.
Kernel winograd_kernel_gradient(const ConvProblem& p, int threads);

}  // namespace martello::internal
