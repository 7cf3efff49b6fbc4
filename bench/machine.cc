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

// A line of memory goes to the other core and comes back.
double round_trip_ns(int here, int there) {
  constexpr int kTrips = 20000;
  std::atomic<int> ball{0};
  const auto play = [&](int core, int first) {
    stay_on(core);
    for (int i = first; i < 2 * kTrips; i += 2) {
      while (ball.load(std::memory_order_acquire) != i) continue;
      ball.store(i + 1, std::memory_order_release);
    }
  };
  const double start = now_seconds();
  std::thread one(play, here, 0), other(play, there, 1);
  one.join();
  other.join();
  return 1e9 * (now_seconds() - start) / kTrips;
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
