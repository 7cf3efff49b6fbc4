#pragma once
#include <martello/kernel/cpu/formula.h>

// See Note [Formulas]. x are logits, y labels: softplus(x) - x y, where neither large x nor the difference of two large
// numbers loses digits.
// clang-format off
#define MARTELLO_LOSSES_FORMULAS(F)                                           \
  F(sigmoid_cross_entropy, (max(x, V(0)) - x * y) + softplus(-abs(x)))
// clang-format on

MARTELLO_DECLARE_FORMULAS(MARTELLO_LOSSES_FORMULAS)
