#pragma once
#include <martello/graph/op_def.h>

namespace martello {

extern const OpDef op_where;

// a where c, else b; with broadcasting. c is bool, a and b have one dtype, any of the eight.
Tensor where(Operand c, Operand a, Operand b, Name name = "where");

}  // namespace martello
