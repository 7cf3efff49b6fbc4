#pragma once
#include <string>
#include <string_view>

namespace martello::internal {

// The directory that a saver saves to, made if missing: the one that was given, else the logger's. Refuses one that
// cannot be written to; `who` is named in errors.
std::string saver_dir(const std::string& given, std::string_view who);

}  // namespace martello::internal
