#pragma once
#include <martello/graph/op_def.h>

// Element-wise arithmetic of two tensors with numpy's broadcasting. Both have one dtype (a number takes the other's):
// f32, f64, and but for pow i32, i64, u8, where overflow wraps and a zero divisor is an error of the run.
namespace martello {

extern const OpDef op_add, op_subtract, op_multiply, op_divide, op_floor_div, op_mod, op_maximum, op_minimum, op_pow,
    op_squared_difference;

Tensor add(Operand a, Operand b, Name name = "add");
Tensor subtract(Operand a, Operand b, Name name = "subtract");
Tensor multiply(Operand a, Operand b, Name name = "multiply");
// a / b; of integers towards zero, as in C++.
Tensor divide(Operand a, Operand b, Name name = "divide");
// floor(a / b).
Tensor floor_div(Operand a, Operand b, Name name = "floor_div");
// a - floor(a / b) * b: the sign of b, as in Python.
Tensor mod(Operand a, Operand b, Name name = "mod");
// NaN when either is NaN.
Tensor maximum(Operand a, Operand b, Name name = "maximum");
Tensor minimum(Operand a, Operand b, Name name = "minimum");
// a to the power b.
Tensor pow(Operand a, Operand b, Name name = "pow");
// (a - b) squared.
Tensor squared_difference(Operand a, Operand b, Name name = "squared_difference");
// min(max(x, low), high).
Tensor clip_by_value(Operand x, Operand low, Operand high, Name name = "clip_by_value");

}  // namespace martello
