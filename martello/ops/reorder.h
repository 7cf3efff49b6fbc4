#pragma once
#include <martello/graph/op_def.h>

namespace martello {

// A convolution's kernel in the library's layout, or for direction grad_kernel out of it. The assign_layout pass makes
// it. f32, or bf16 as the convolution takes it, rounded on the way.
extern const OpDef op_reorder;

}  // namespace martello
