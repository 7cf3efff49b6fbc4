#pragma once
#include <martello/graph/op_def.h>

namespace martello {

extern const OpDef op_identity, op_stop_gradient;

// y = x, under another name.
Tensor identity(Operand x, Name name = "identity");
// y = x; a constant as far as gradients go.
Tensor stop_gradient(Operand x, Name name = "stop_gradient");

}  // namespace martello
