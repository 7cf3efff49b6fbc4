#pragma once
#include <cstdint>

namespace martello::cpu {

// Results beyond this are streamed past the caches.
int64_t last_level_cache_bytes();

}  // namespace martello::cpu
