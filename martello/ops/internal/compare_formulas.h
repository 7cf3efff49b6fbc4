#pragma once
#include <martello/kernel/cpu/formula.h>

// Formulas of compare, where and cast: those with a bool, which is 0 or 1. See Note [Formulas].
// clang-format off
#define MARTELLO_COMPARE_FORMULAS(F)             \
  F(equal, as_number(x == y))                    \
  F(not_equal, as_number(x != y))                \
  F(less, as_number(x < y))                      \
  F(less_equal, as_number(x <= y))               \
  F(greater, as_number(x > y))                   \
  F(greater_equal, as_number(x >= y))            \
  F(logical_and, x * y)                          \
  F(logical_or, max(x, y))                       \
  F(logical_xor, as_number(x != y))
// A cast between bool, u8 and the dtype that a chain computes in; p0 is 1 for a cast to bool.
#define MARTELLO_NOT_FORMULAS(F)                 \
  F(logical_not, V(1) - x)                       \
  F(cast, p0 != 0 ? as_number(x != V(0)) : x)
#define MARTELLO_WHERE_FORMULAS(F) F(where, select(x != V(0), y, z))
// clang-format on

MARTELLO_DECLARE_FORMULAS(MARTELLO_COMPARE_FORMULAS)
MARTELLO_DECLARE_FORMULAS(MARTELLO_NOT_FORMULAS)
MARTELLO_DECLARE_FORMULAS(MARTELLO_WHERE_FORMULAS)
