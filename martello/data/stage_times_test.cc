#include <martello/data/internal/stage_clock.h>
#include <martello/data/internal/test_flow.h>
#include <martello/data/stage_times.h>

#include <chrono>
#include <map>
#include <thread>

namespace martello::data {
namespace {

using namespace internal;

// Asleep inside a stage, which counts as its work, so that a machine with few cores or much to do changes little.
void work_ms(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }
MapFunction working(double ms) {
  return [ms](Datapoint dp) {
    work_ms(ms);
    return dp;
  };
}

// Reads a pass as an input does.
std::vector<StageTimes::Entry> times_of(const DataFlowRef& flow) {
  const auto times = std::make_shared<StageTimes>();
  const auto iterator = flow->iterate({.stage_times = times});
  StageClock clock(times);
  while (clock.run([&] { return iterator->next(); })) {
  }
  return times->take();
}

double seconds_of(const std::vector<StageTimes::Entry>& entries, std::string_view name) {
  for (const auto& e : entries)
    if (contains(e.stage, name)) return e.seconds;
  return 0;
}

TEST(StageTimes, each_stage_has_its_own_time_without_those_below) {
  const auto entries =
      times_of(count_to(12).map(working(4), {.name = "decode"}).map(working(1), {.name = "crop"}).batch(4));
  EXPECT_TRUE(contains(slowest_stage(entries), "map 'decode' (stage_times_test.cc:")) << slowest_stage(entries);
  EXPECT_GE(seconds_of(entries, "'decode'"), 0.048);
  EXPECT_LT(seconds_of(entries, "'crop'"), 0.5 * seconds_of(entries, "'decode'"));
  EXPECT_GT(seconds_of(entries, "'crop'"), 0.011);
  EXPECT_LT(seconds_of(entries, "batch ("), seconds_of(entries, "'crop'"));
}

TEST(StageTimes, maps_below_a_shuffle_are_told_apart) {
  const auto entries =
      times_of(count_to(12).map(working(0.5), {.name = "read"}).map(working(3), {.name = "decode"}).shuffle());
  EXPECT_TRUE(contains(slowest_stage(entries), "decode")) << slowest_stage(entries);
  EXPECT_LT(seconds_of(entries, "shuffle ("), seconds_of(entries, "'read'"));
}

TEST(StageTimes, work_of_several_threads_is_shared_and_waiting_counts_for_nobody) {
  const auto entries = times_of(count_to(16)
                                    .parallel_map(working(4), {.threads = 4, .name = "decode"})
                                    .map(working(2), {.name = "crop"})
                                    .prefetch());
  // 64 ms for four threads, 32 ms for the one that prefetches.
  EXPECT_GE(seconds_of(entries, "'decode'"), 0.064);
  EXPECT_TRUE(contains(slowest_stage(entries), "crop")) << slowest_stage(entries);
  EXPECT_LT(seconds_of(entries, "prefetch ("), 0.5 * seconds_of(entries, "'crop'"));
}

// A thread that the machine stops in one of the few timed datapoints counts many times: one undisturbed run is enough.
TEST(StageTimes, a_fast_flow_is_timed_now_and_then_and_scaled_up) {
  double share = 0;
  for (int attempt = 0; attempt < 10 && (share < 0.5 || share > 1.5); ++attempt) {
    const auto start = std::chrono::steady_clock::now();
    const auto entries = times_of(count_to(1000).map(working(0.03), {.name = "quick"}));
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    share = seconds_of(entries, "'quick'") / wall;
  }
  EXPECT_GT(share, 0.5);
  EXPECT_LT(share, 1.5);
}

TEST(StageTimes, taking_begins_again) {
  StageTimes times;
  times.add("a", 1);
  times.add("b", 3, 4);
  times.add("a", 1);
  const auto entries = times.take();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].seconds, 2);
  EXPECT_EQ(slowest_stage(entries), "a");
  EXPECT_TRUE(times.take().empty());
  EXPECT_EQ(slowest_stage({}), "");
}

}  // namespace
}  // namespace martello::data
