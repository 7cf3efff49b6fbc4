#pragma once
#include <martello/ops/reshape.h>

// Several tensors as one, and one as several.
namespace martello {

// xs side by side along `axis`; they agree in all other dimensions.
Tensor concat(TensorList xs, int axis, Name name = "concat");
// xs, all of one shape, along a new dimension before dimension `axis`; -1 puts it last.
Tensor stack(TensorList xs, int axis = 0, Name name = "stack");

extern const OpDef op_concat, op_stack;

}  // namespace martello
