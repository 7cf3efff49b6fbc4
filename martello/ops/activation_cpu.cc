#include <martello/kernel/cpu/formula_reference.h>
#include <martello/ops/internal/activation_formulas.h>

MARTELLO_DEFINE_FORMULAS(1, MARTELLO_ACTIVATION_FORMULAS)
MARTELLO_DEFINE_FORMULAS(2, MARTELLO_ACTIVATION_GRAD_FORMULAS)
