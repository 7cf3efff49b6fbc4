#pragma once
#include <functional>

namespace bench {

double now_seconds();

// Seconds of one call: best of several rounds, each at least `seconds` long, after a warm-up.
double best_of(const std::function<void()>& call, double seconds = 0.05, int rounds = 7);
// Median over blocks of `steps` calls after `warm` calls: how the peers measure.
double median_of_blocks(const std::function<void()>& call, int warm, int steps, int blocks = 5);
// Best of alternating rounds of two calls, so that both see the same machine.
struct Pair {
  double first, second;
};
Pair best_of_both(const std::function<void()>& first, const std::function<void()>& second, int rounds = 15);

}  // namespace bench
