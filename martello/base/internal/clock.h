#pragma once
#include <chrono>

namespace martello::internal {

// Seconds since an unknown moment, steadily.
inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace martello::internal
