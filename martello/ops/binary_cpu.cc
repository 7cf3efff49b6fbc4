#include <martello/kernel/cpu/formula_reference.h>
#include <martello/ops/internal/binary_formulas.h>

MARTELLO_DEFINE_FORMULAS(2, MARTELLO_BINARY_FORMULAS)
