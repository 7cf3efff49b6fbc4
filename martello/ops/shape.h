#pragma once
#include <martello/graph/op_def.h>

// Sizes of tensors as tensors. Rows that depend on data are counted as they are in the run.
namespace martello {

// The sizes of x, an i64 vector. Known sizes are known to whatever is built from them.
Tensor shape(Operand x, Name name = "shape");
// The number of elements of x, an i64 scalar.
Tensor size(Operand x, Name name = "size");

extern const OpDef op_shape, op_size;

}  // namespace martello
