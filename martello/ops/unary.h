#pragma once
#include <martello/graph/op_def.h>

// Element-wise functions of one tensor. One signature for all, never overloaded, so that each can be an activation.
// Floating (f32, f64); negative, abs, sign and square take integers too, where overflow wraps.
namespace martello {

extern const OpDef op_negative, op_abs, op_sign, op_square, op_sqrt, op_rsqrt, op_reciprocal, op_exp, op_expm1, op_log,
    op_log1p, op_sin, op_cos, op_erf, op_floor, op_ceil, op_round, op_is_finite, op_is_nan;

Tensor negative(Operand x, Name name = "negative");
Tensor abs(Operand x, Name name = "abs");
// -1, 0 or 1.
Tensor sign(Operand x, Name name = "sign");
Tensor square(Operand x, Name name = "square");
Tensor sqrt(Operand x, Name name = "sqrt");
// 1 / sqrt(x).
Tensor rsqrt(Operand x, Name name = "rsqrt");
Tensor reciprocal(Operand x, Name name = "reciprocal");
Tensor exp(Operand x, Name name = "exp");
// exp(x) - 1, exact near 0.
Tensor expm1(Operand x, Name name = "expm1");
Tensor log(Operand x, Name name = "log");
// log(1 + x), exact near 0.
Tensor log1p(Operand x, Name name = "log1p");
Tensor sin(Operand x, Name name = "sin");
Tensor cos(Operand x, Name name = "cos");
Tensor erf(Operand x, Name name = "erf");
Tensor floor(Operand x, Name name = "floor");
Tensor ceil(Operand x, Name name = "ceil");
// To the nearest integer, half to even.
Tensor round(Operand x, Name name = "round");
// bool.
Tensor is_finite(Operand x, Name name = "is_finite");
Tensor is_nan(Operand x, Name name = "is_nan");

}  // namespace martello
