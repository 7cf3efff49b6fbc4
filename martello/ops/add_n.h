#pragma once
#include <martello/graph/op_def.h>

namespace martello {

extern const OpDef op_add_n;

// xs[0] + xs[1] + ..., from left to right. All have one shape and dtype (f32, f64, i32, i64, u8).
Tensor add_n(TensorList xs, Name name = "add_n");

}  // namespace martello
