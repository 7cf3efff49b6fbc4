#include "ops.h"
#include "timing.h"

#include <martello/base/threads.h>
#include <martello/tensor/buffer.h>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

namespace mt = martello;

namespace bench {
namespace {

std::vector<int> allowed_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

void stay_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

// A line of memory goes to the other core and comes back, for a short time.
double round_trip_ns(int here, int there) {
  constexpr int kEnd = -1, kTripsAtOnce = 100;
  constexpr double kSeconds = 0.005;
  std::atomic<int> ball{0};
  std::thread other([&] {
    stay_on(there);
    for (int expected = 1;; expected += 2) {
      int seen = ball.load(std::memory_order_acquire);
      while (seen != expected && seen != kEnd) seen = ball.load(std::memory_order_acquire);
      if (seen == kEnd) return;
      ball.store(expected + 1, std::memory_order_release);
    }
  });
  double ns = 0;
  std::thread one([&] {
    stay_on(here);
    const double start = now_seconds();
    for (int trips = 0; ball.load() != kEnd;) {
      for (int i = 0; i < kTripsAtOnce; ++i, ++trips) {
        ball.store(2 * trips + 1, std::memory_order_release);
        while (ball.load(std::memory_order_acquire) != 2 * trips + 2) continue;
      }
      ns = 1e9 * (now_seconds() - start) / trips;
      if (now_seconds() - start > kSeconds) ball.store(kEnd);
    }
  });
  one.join();
  other.join();
  return ns;
}

double write_gigabytes(int threads) {
  constexpr int64_t kBytes = 256 << 20, kPart = 1 << 20;
  const mt::Buffer buffer(kBytes);
  const double seconds = best_of(
      [&] {
        mt::parallel_for(threads, kBytes / kPart, [&](int64_t i) { std::memset(buffer.data() + i * kPart, 1, kPart); });
      },
      0.02, 5);
  return static_cast<double>(kBytes) / 1e9 / seconds;
}

}  // namespace

int print_machine(const Options& options) {
  const std::vector<int> cores = allowed_cores();
  double trip = 0;
  for (int i = 0; i < 5 && cores.size() > 1; ++i) {
    const double ns = round_trip_ns(cores[0], cores[1]);
    trip = i == 0 ? ns : std::min(trip, ns);
  }
  const int threads = options.threads > 0 ? options.threads : mt::default_threads();
  std::printf("{\"round_trip_ns\": %.0f, \"write_gb_s\": %.1f}\n", trip, write_gigabytes(threads));
  return 0;
}

}  // namespace bench
