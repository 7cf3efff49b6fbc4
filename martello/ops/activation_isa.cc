#include <martello/kernel/cpu/formula_stages_isa.h>
#include <martello/ops/internal/activation_formulas.h>

MARTELLO_DEFINE_STAGES(1, MARTELLO_ACTIVATION_FORMULAS)
MARTELLO_DEFINE_STAGES(2, MARTELLO_ACTIVATION_GRAD_FORMULAS)
