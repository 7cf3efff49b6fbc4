#pragma once
#include <martello/ops/optimizer_update.h>

namespace martello {

// One variable whose gradient is a few rows: only these rows of the variable and of its slots are read and written.
// Rows named twice are summed first, in the order of the indices. The group has one variable and no gradients.
Operation sparse_optimizer_update(Operand learning_rate, Operand indices, Operand values, const UpdateGroup& group,
                                  OptimizerUpdateAttrs attrs = {}, Name name = "sparse_optimizer_update");
extern const OpDef op_sparse_optimizer_update;

}  // namespace martello
