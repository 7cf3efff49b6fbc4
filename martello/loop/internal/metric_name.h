#pragma once
#include <string_view>

namespace martello::internal {

// Refuses names that a file of statistics could not hold. `what` is a scalar, an image ...
void check_metric_name(std::string_view what, std::string_view name);

}  // namespace martello::internal
