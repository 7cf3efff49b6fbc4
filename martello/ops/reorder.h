#pragma once
#include <martello/graph/op_def.h>

namespace martello {

// A convolution's kernel in the library's layout, or for direction grad_kernel out of it. The assign_layout pass makes
// it; f32.
extern const OpDef op_reorder;

}  // namespace martello
