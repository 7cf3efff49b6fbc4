#pragma once
#include <martello/kernel/cpu/formula.h>

// See Note [Formulas]. NaN stays NaN.
// clang-format off
#define MARTELLO_ACTIVATION_FORMULAS(F)                                                                        \
  F(relu, select(x <= V(0), V(0), x))                                                                          \
  F(relu6, select(x <= V(0), V(0), select(x >= V(6), V(6), x)))                                                \
  F(leaky_relu, select(x > V(0), x, x * V(p0)))                                                                \
  F(elu, select(x > V(0), x, expm1(x)))                                                                        \
  F(selu, select(x > V(0), x * V(1.0507009873554805), expm1(x) * V(1.0507009873554805 * 1.6732632423543772)))  \
  F(sigmoid, sigmoid(x))                                                                                       \
  F(tanh, tanh(x))                                                                                             \
  F(softplus, softplus(x))                                                                                     \
  F(silu, x * sigmoid(x))                                                                                      \
  F(gelu, gelu(x))                                                                                             \
  F(gelu_tanh, gelu_tanh(x))
// x decides, y is the gradient.
#define MARTELLO_ACTIVATION_GRAD_FORMULAS(F)                 \
  F(relu_grad, select(x > V(0), y, V(0)))                    \
  F(leaky_relu_grad, select(x > V(0), y, y * V(p0)))
// clang-format on

MARTELLO_DECLARE_FORMULAS(MARTELLO_ACTIVATION_FORMULAS)
MARTELLO_DECLARE_FORMULAS(MARTELLO_ACTIVATION_GRAD_FORMULAS)
