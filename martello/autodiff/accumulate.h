#pragma once
#include <martello/graph/tensor.h>

#include <vector>

namespace martello {

// The sum of all contributions to one gradient, in the order in which they came. Stays sparse when all of them are.
Tensor accumulate(const std::vector<Tensor>& contributions);

}  // namespace martello
