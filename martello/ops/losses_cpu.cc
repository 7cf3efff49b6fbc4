#include <martello/kernel/cpu/formula_reference.h>
#include <martello/ops/internal/losses_formulas.h>

MARTELLO_DEFINE_FORMULAS(2, MARTELLO_LOSSES_FORMULAS)
