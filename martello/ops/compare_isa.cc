#include <martello/kernel/cpu/formula_stages_isa.h>
#include <martello/ops/internal/compare_formulas.h>

MARTELLO_DEFINE_STAGES(2, MARTELLO_COMPARE_FORMULAS)
MARTELLO_DEFINE_STAGES(1, MARTELLO_NOT_FORMULAS)
MARTELLO_DEFINE_STAGES(3, MARTELLO_WHERE_FORMULAS)
