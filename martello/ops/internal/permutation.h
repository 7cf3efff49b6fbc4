#pragma once
#include <vector>

namespace martello::internal {

// `perm` with axes in [0, rank), spelled out when it is empty.
std::vector<int> full_permutation(const std::vector<int>& perm, int rank);

}  // namespace martello::internal
