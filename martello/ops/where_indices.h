#pragma once
#include <martello/graph/op_def.h>

namespace martello {

// The places where `condition` is true, in their order: i64 [true elements, rank of the condition]. Their number
// depends on data; the shape states the size of the condition, a bound, and a run uses as many rows as are true.
Tensor where_indices(Operand condition, Name name = "where_indices");
extern const OpDef op_where_indices;

}  // namespace martello
