#include <martello/kernel/cpu/caches.h>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <numeric>

namespace martello::cpu {
namespace {

// "32768K" of the kernel's cache description; 0 when there is none.
int64_t described_cache_bytes() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  int64_t kilobytes = 0;
  file >> kilobytes;
  return kilobytes * 1024;
}

}  // namespace

// sysconf may count the caches of all sockets of a host that this machine is a slice of; the kernel's description is of
// one cache.
int64_t last_level_cache_bytes() {
  static const int64_t bytes = [] {
    const int64_t said = sysconf(_SC_LEVEL3_CACHE_SIZE), described = described_cache_bytes();
    if (described > 0) return described;
    return said > 0 ? said : int64_t{32} << 20;
  }();
  return bytes;
}

bool do_lines_collide(int64_t lines, int64_t bytes) {
  constexpr int64_t kPage = 4096, kPlaces = 64, kHeld = 8;
  const int64_t places = std::min(kPlaces, kPage / std::gcd(kPage, bytes));
  return lines > kHeld * places;
}

bool are_far_rows_slow() { return __builtin_cpu_is("intel"); }

}  // namespace martello::cpu
