#include <martello/kernel/cpu/formula_reference.h>
#include <martello/ops/internal/unary_formulas.h>

MARTELLO_DEFINE_FORMULAS(1, MARTELLO_UNARY_FORMULAS)
