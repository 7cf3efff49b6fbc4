#include "timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {
double time_of(const std::function<void()>& call, int calls) {
  const double start = now_seconds();
  for (int i = 0; i < calls; ++i) call();
  return (now_seconds() - start) / calls;
}

int calls_for(const std::function<void()>& call, double seconds) {
  call();
  const double once = std::max(1e-9, time_of(call, 1));
  return static_cast<int>(std::clamp(seconds / once, 1.0, 1e6));
}
}  // namespace

double best_of(const std::function<void()>& call, double seconds, int rounds) {
  const int calls = calls_for(call, seconds);
  double best = 1e30;
  for (int r = 0; r < rounds; ++r) best = std::min(best, time_of(call, calls));
  return best;
}

double median_of_blocks(const std::function<void()>& call, int warm, int steps, int blocks) {
  for (int i = 0; i < warm; ++i) call();
  std::vector<double> times;
  for (int b = 0; b < blocks; ++b) times.push_back(time_of(call, steps));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Pair best_of_both(const std::function<void()>& first, const std::function<void()>& second, int rounds) {
  const int calls_first = calls_for(first, 0.02), calls_second = calls_for(second, 0.02);
  Pair best{1e30, 1e30};
  for (int r = 0; r < rounds; ++r) {
    best.first = std::min(best.first, time_of(first, calls_first));
    best.second = std::min(best.second, time_of(second, calls_second));
  }
  return best;
}

}  // namespace bench
