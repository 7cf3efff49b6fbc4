#pragma once
#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/elementwise.h>

namespace martello::internal {

// Input 0, f32 or f64, reduced along the marked axes by the loops that fused programs use too: the same bits.
Kernel float_reduce(const KernelPlan& plan, cpu::Reduction::Kind kind, const std::vector<bool>& marked);

// The sum of i32 or i64 elements along the marked axes.
Kernel integer_sum(const KernelPlan& plan, const std::vector<bool>& marked);

}  // namespace martello::internal
