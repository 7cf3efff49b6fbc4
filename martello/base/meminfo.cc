#include <martello/base/meminfo.h>

#include <fstream>
#include <string>

namespace martello {

std::optional<int64_t> meminfo_bytes(std::string_view field) {
  constexpr int64_t kKilobyte = 1024;
  std::ifstream file("/proc/meminfo");
  int64_t kilobytes = 0;
  for (std::string key, unit; file >> key >> kilobytes && std::getline(file, unit);)
    if (key.ends_with(':') && std::string_view(key).substr(0, key.size() - 1) == field) return kilobytes * kKilobyte;
  return std::nullopt;
}

}  // namespace martello
