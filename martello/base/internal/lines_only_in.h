#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace martello::internal {

// Lines of `a` that `b` has not, each as often as it is missing.
std::vector<std::string> lines_only_in(std::string_view a, std::string_view b);

}  // namespace martello::internal
