#include <martello/kernel/cpu/formula_stages_isa.h>
#include <martello/ops/internal/unary_formulas.h>

MARTELLO_DEFINE_STAGES(1, MARTELLO_UNARY_FORMULAS)
