#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace martello {

// Bytes in a field of /proc/meminfo ("MemAvailable"), or null where the system does not tell.
std::optional<int64_t> meminfo_bytes(std::string_view field);

}  // namespace martello
