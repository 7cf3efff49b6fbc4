#pragma once
#include <martello/graph/tensor.h>

namespace martello::internal {

// x with dimension `axis` as two, of which the second has `inner` elements. Other sizes may be unknown.
Tensor split_dim(Tensor x, int axis, int64_t inner);

}  // namespace martello::internal
