#pragma once
#include <martello/kernel/cpu/formula.h>

// See Note [Formulas].
// clang-format off
#define MARTELLO_UNARY_FORMULAS(F)                                 \
  F(negative, -x)                                                  \
  F(abs, abs(x))                                                   \
  F(sign, select(x > V(0), V(1), select(x < V(0), V(-1), x)))      \
  F(square, x * x)                                                 \
  F(sqrt, sqrt(x))                                                 \
  F(rsqrt, rsqrt(x))                                               \
  F(reciprocal, V(1) / x)                                          \
  F(exp, exp(x))                                                   \
  F(expm1, expm1(x))                                               \
  F(log, log(x))                                                   \
  F(log1p, log1p(x))                                               \
  F(sin, sin(x))                                                   \
  F(cos, cos(x))                                                   \
  F(erf, erf(x))                                                   \
  F(floor, floor(x))                                               \
  F(ceil, ceil(x))                                                 \
  F(round, round(x))                                               \
  F(is_finite, as_number(abs(x) < V(__builtin_inf())))             \
  F(is_nan, as_number(is_nan(x)))
// clang-format on

MARTELLO_DECLARE_FORMULAS(MARTELLO_UNARY_FORMULAS)
