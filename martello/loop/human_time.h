#pragma once
#include <string>

namespace martello {

// Time as people write it: "1 hour 2 minutes 5 seconds"; under a minute with three digits.
std::string human_time(double seconds);

}  // namespace martello
