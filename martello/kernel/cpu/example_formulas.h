#pragma once

// The tables of the tests, and an example of what an op table looks like. See Note [Formulas] in formula.h.
// The formatter takes x * x for a pointer.
// clang-format off
#define MARTELLO_EXAMPLE_UNARY_FORMULAS(F)                  \
  F(example_neg, -x)                                        \
  F(example_square, x * x)                                   \
  F(example_relu, max(x, V(0)))                             \
  F(example_leaky_relu, select(x > V(0), x, x * V(p0)))     \
  F(example_affine, x * V(p0) + V(p1))                       \
  F(example_between, as_number((x > V(p0)) & !(x > V(p1)))) \
  F(example_round, round(x))                                \
  F(example_sqrt, sqrt(x))                                  \
  F(example_rsqrt, rsqrt(x))                                \
  F(example_exp, exp(x))                                    \
  F(example_expm1, expm1(x))                                \
  F(example_log, log(x))                                    \
  F(example_log1p, log1p(x))                                \
  F(example_sin, sin(x))                                    \
  F(example_cos, cos(x))                                    \
  F(example_tanh, tanh(x))                                  \
  F(example_sigmoid, sigmoid(x))                            \
  F(example_softplus, softplus(x))                          \
  F(example_erf, erf(x))                                    \
  F(example_gelu, gelu(x))                                  \
  F(example_gelu_tanh, gelu_tanh(x))

#define MARTELLO_EXAMPLE_BINARY_FORMULAS(F) \
  F(example_add, x + y)                     \
  F(example_sub, x - y)                     \
  F(example_mul, x * y)                      \
  F(example_div, x / y)                     \
  F(example_max, max(x, y))                 \
  F(example_min, min(x, y))                 \
  F(example_less, as_number(x < y))         \
  F(example_pow, pow(x, y))

#define MARTELLO_EXAMPLE_TERNARY_FORMULAS(F) \
  F(example_fma, fma(x, y, z))               \
  F(example_where, select(x != V(0), y, z))
// clang-format on
