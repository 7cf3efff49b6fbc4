#pragma once
#include <cstdint>

namespace martello::cpu {

// Results beyond this are streamed past the caches.
int64_t last_level_cache_bytes();

// Whether a core gains by copying rows that it reads several times and that lie a page or so apart. Measured for large
// matrices: on Intel's processors (Ice Lake) it halves the time of a product, on AMD's (Zen 4 and 5) it costs 5 to 40
// %.
bool are_far_rows_slow();

// Whether `lines` of memory that lie `bytes` apart push each other out of the first cache: it finds a place by the last
// twelve bits of an address, and each place holds a few of them.
bool do_lines_collide(int64_t lines, int64_t bytes);

// What kernels want to know of this machine. Tests may give another answer; no bit depends on it.
struct Caches {
  bool are_far_rows_slow = cpu::are_far_rows_slow();
  int64_t last_level_bytes = cpu::last_level_cache_bytes();
};

}  // namespace martello::cpu
