#include <martello/kernel/cpu/formula_stages_isa.h>
#include <martello/ops/internal/losses_formulas.h>

MARTELLO_DEFINE_STAGES(2, MARTELLO_LOSSES_FORMULAS)
