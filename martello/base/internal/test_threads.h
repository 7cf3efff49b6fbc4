#pragma once
#include <cstddef>
#include <filesystem>
#include <iterator>

// For tests of what threads are left behind.
namespace martello::testing {

inline size_t threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace martello::testing
