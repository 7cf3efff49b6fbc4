#pragma once
#include <martello/graph/op_def.h>

namespace martello {

// The elements of x where mask is true, one after the other: [true elements, the dimensions of x behind the mask's].
// Their number depends on data; the shape states the size of the mask, a bound, and a run uses as many rows as are
// true.
Tensor boolean_mask(Operand x, Operand mask, Name name = "boolean_mask");
// Rows of dy put back where the mask is true, zeros elsewhere: the gradient of boolean_mask().
Tensor boolean_mask_grad(Operand dy, Operand mask, Name name = "boolean_mask_grad");

extern const OpDef op_boolean_mask, op_boolean_mask_grad;

}  // namespace martello
