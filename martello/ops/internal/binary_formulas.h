#pragma once
#include <martello/kernel/cpu/formula.h>

// See Note [Formulas]. A quotient that rounds up to an integer is one too many for its floor: the remainder's sign
// tells.
// clang-format off
#define MARTELLO_BINARY_FORMULAS(F)                                                                     \
  F(add, x + y)                                                                                         \
  F(subtract, x - y)                                                                                    \
  F(multiply, x * y)                                                                                    \
  F(divide, x / y)                                                                                      \
  F(floor_div, floor(x / y) - as_number(fma(-floor(x / y), y, x) * y < V(0)))                           \
  F(mod, fma(-floor(x / y), y, x) + select(fma(-floor(x / y), y, x) * y < V(0), y, V(0)))               \
  F(maximum, max(x, y))                                                                                 \
  F(minimum, min(x, y))                                                                                 \
  F(squared_difference, (x - y) * (x - y))                                                              \
  F(pow, pow(x, y))
// clang-format on

MARTELLO_DECLARE_FORMULAS(MARTELLO_BINARY_FORMULAS)
