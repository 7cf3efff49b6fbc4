#pragma once
#include <martello/graph/kernel.h>

// Kernels of element-wise ops for the dtypes that have no vector formula: integers and bool. Integer overflow wraps.
namespace martello {

// One kernel per dtype; null where the op's shape function refuses it.
struct PlainLoops {
  KernelFn i32 = nullptr, i64 = nullptr, u8 = nullptr, boolean = nullptr;
  Kernel plan(const KernelPlan& plan) const;  // by the dtype of the last input
};

extern const PlainLoops loops_negative, loops_abs, loops_sign, loops_square, loops_logical_not, loops_bitwise_not;
extern const PlainLoops loops_add, loops_subtract, loops_multiply, loops_divide, loops_floor_div, loops_mod,
    loops_maximum, loops_minimum, loops_squared_difference;
extern const PlainLoops loops_equal, loops_not_equal, loops_less, loops_less_equal, loops_greater, loops_greater_equal;
extern const PlainLoops loops_and, loops_or, loops_xor;

// where(c, a, b) for any dtype: moves bytes.
Kernel where_loop(const KernelPlan& plan);

}  // namespace martello
