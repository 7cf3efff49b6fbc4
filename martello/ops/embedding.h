#pragma once
#include <martello/graph/tensor.h>

namespace martello {

// y[i..., :] = table[ids[i...], :]; ids are i32 or i64 and may repeat. The gradient of the table is row-sparse (see
// find_row_sparse()): an optimizer that knows it touches only these rows. An id outside the table ends the run with its
// position and value.
Tensor embedding_lookup(Operand table, Operand ids, Name name = "embedding_lookup");

}  // namespace martello
