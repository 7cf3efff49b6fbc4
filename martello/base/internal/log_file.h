#pragma once
#include <string>

// The file that log lines go to besides standard error.
namespace martello::internal {

// Follows `path` from now on; an empty one ends it. An existing file is moved to `path`.MMDD-HHMMSS first.
void set_log_file(const std::string& path);

// "1115-140207", of the local time.
std::string time_suffix();
// `path`.MMDD-HHMMSS, with a number behind it when that exists.
std::string unused_path(const std::string& path);

}  // namespace martello::internal
