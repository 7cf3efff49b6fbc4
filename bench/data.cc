#include "ops.h"
#include "timing.h"

#include <martello/base/threads.h>
#include <martello/data/fashion_mnist.h>
#include <martello/data/sources.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mt = martello;

namespace bench {
namespace {

constexpr double kMostMapNanoseconds = 100, kMostRestoreMilliseconds = 50, kLeastOrdered = 0.95, kLeastAppetite = 20;
// One step of the convnet of examples/ on 128 images, on the two cores that docs/benchmarks.md speaks of.
constexpr double kConvnetStepSeconds = 0.021;

mt::DataFlowRef numbers(int64_t count) {
  return mt::data::from_index(count, [](int64_t i, mt::Rng&) { return mt::Datapoint{i}; });
}

double seconds_to_read(const mt::DataFlowRef& flow) {
  const auto iterator = flow->iterate({});
  const double start = now_seconds();
  while (iterator->next()) {
  }
  return now_seconds() - start;
}

double least_seconds(const mt::DataFlowRef& flow, int rounds = 5) {
  double least = seconds_to_read(flow);
  for (int i = 1; i < rounds; ++i) least = std::min(least, seconds_to_read(flow));
  return least;
}

bool missed_maps() {
  constexpr int64_t count = 200000;
  const auto source = mt::data::from_list(std::vector<mt::Datapoint>(count, mt::Datapoint{1.f, int64_t{2}}));
  auto mapped = source;
  for (int i = 0; i < 10; ++i) mapped = mapped.map([](mt::Datapoint dp) { return dp; });
  const double nanoseconds = 1e9 * (least_seconds(mapped) - least_seconds(source)) / (10. * count);
  std::printf("ten trivial maps: %.1f ns per map and datapoint (at most %.0f)\n", nanoseconds, kMostMapNanoseconds);
  return nanoseconds > kMostMapNanoseconds;
}

bool missed_restore() {
  const auto flow = numbers(10000000).shuffle().batch(128).prefetch();
  std::string position;
  {
    const auto iterator = flow->iterate({1, 0});
    iterator->skip(60000);
    iterator->next();
    position = mt::save_state(*iterator);
  }
  const double start = now_seconds();
  const auto restored = flow->iterate({1, 0});
  mt::restore_state(*restored, position);
  restored->next();
  const double milliseconds = 1e3 * (now_seconds() - start);
  std::printf("restoring batch 60,001 of 10 million shuffled samples: %.2f ms (at most %.0f)\n", milliseconds,
              kMostRestoreMilliseconds);
  return milliseconds > kMostRestoreMilliseconds;
}

// About 50 microseconds of arithmetic, the same for each datapoint.
mt::Datapoint work(mt::Datapoint dp) {
  double x = static_cast<double>(dp[0].scalar<int64_t>());
  for (int i = 0; i < 4000; ++i) x = std::sqrt(x + 1.5);
  dp[0] = x;
  return dp;
}

bool missed_order(int threads) {
  const auto source = numbers(8000);
  const auto ordered = source.parallel_map(work, {.threads = threads});
  const auto unordered = source.parallel_map(work, {.threads = threads, .ordered = false});
  double first = 1e30, second = 1e30;
  for (int i = 0; i < 7; ++i) {
    first = std::min(first, seconds_to_read(ordered));
    second = std::min(second, seconds_to_read(unordered));
  }
  std::printf("parallel map of even work, %d threads: ordered at %.3f of unordered (at least %.2f), %.2f times map\n",
              threads, second / first, kLeastOrdered, least_seconds(source.map(work), 3) / first);
  return second / first < kLeastOrdered;
}

bool missed_appetite() {
  const auto train = mt::data::fashion_mnist().train;
  const auto flow = train.shuffle().batch(128);
  const double seconds = least_seconds(flow, 3) / static_cast<double>(*flow.size());
  const double ahead = least_seconds(flow.prefetch(), 3) / static_cast<double>(*flow.size());
  std::printf(
      "Fashion-MNIST, shuffle and batch 128: %.0f us per batch, %.0f with prefetch; %.0f times the convnet's "
      "appetite of one in %.0f ms (at least %.0f)\n",
      1e6 * seconds, 1e6 * ahead, kConvnetStepSeconds / seconds, 1e3 * kConvnetStepSeconds, kLeastAppetite);
  return kConvnetStepSeconds / seconds < kLeastAppetite;
}

}  // namespace

int time_data(const Options& options) {
  const int threads = options.threads > 0 ? options.threads : mt::default_threads();
  bool is_missed = missed_maps();
  is_missed |= missed_restore();
  is_missed |= missed_order(threads);
  is_missed |= missed_appetite();
  return is_missed;
}

}  // namespace bench
