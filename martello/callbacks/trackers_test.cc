#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/state.h>
#include <martello/callbacks/early_stopping.h>
#include <martello/callbacks/send_stat.h>
#include <martello/callbacks/summaries.h>
#include <martello/callbacks/trackers.h>
#include <martello/callbacks/wrappers.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/loop/internal/fake_training.h>
#include <martello/tower/summary.h>

#include <chrono>
#include <cmath>
#include <thread>

namespace martello {
namespace {

using testing::error_of;
using testing::FakeTraining;
using testing::Log;
using testing::TestDir;

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

struct TrackersTest : ::testing::Test {
  Log log;
};

// Takes its time when an epoch is over.
struct SlowTrigger : Callback {
  void trigger() override { sleep_ms(300); }
};

TEST_F(TrackersTest, throughput_counts_time_within_epochs_only) {
  FakeTraining t({}, {SlowTrigger(), ThroughputTracker(), ThroughputTracker(32)});
  t.start();
  for (int i = 0; i < 2; ++i) {
    t.epoch(4, [] { sleep_ms(5); });
    const double steps = t.monitors().get_latest("Throughput (steps/sec)");
    EXPECT_GT(steps, 4 / 0.280);
    EXPECT_LT(steps, 4 / 0.020);
    EXPECT_NEAR(t.monitors().get_latest("Throughput (samples/sec)"), 32 * steps, 32 * steps * 0.5);
  }
  EXPECT_CONTAINS(error_of([&] { t.monitors().check_repeatable("Throughput (steps/sec)", "me"); }), "volatile");
}

TEST_F(TrackersTest, throughput_can_be_asked_in_the_middle_of_an_epoch) {
  FakeTraining t({}, {PeriodicTrigger(ThroughputTracker(), {.steps = 2})});
  t.start();
  t.epoch(4, [] { sleep_ms(2); });
  EXPECT_EQ(t.monitors().get_history("Throughput (steps/sec)").size(), 2u);
}

TEST_F(TrackersTest, throughput_refuses_negative_samples) {
  EXPECT_CONTAINS(error_of([] { ThroughputTracker(-1); }), "-1");
}

TEST_F(TrackersTest, time_left_is_told_while_epochs_are_left) {
  FakeTraining t({}, {EstimatedTimeLeft()}, {.max_epoch = 3});
  t.start();
  for (int i = 0; i < 3; ++i) t.epoch(1, [] { sleep_ms(10); });
  ASSERT_EQ(log.lines.size(), 2u);
  for (const std::string& line : log.lines) EXPECT_TRUE(line.starts_with("Estimated Time Left: 0.")) << line;
}

TEST_F(TrackersTest, time_left_is_the_median_of_the_last_epochs) {
  const auto median = make<EstimatedTimeLeft>(TimeLeftOptions{.last_k_epochs = 3}),
             mean = make<EstimatedTimeLeft>(TimeLeftOptions{.last_k_epochs = 3, .median = false});
  for (const auto& c : {median, mean}) {
    State saved;
    std::vector<double> seconds = {5000, 100, 9000};
    saved("seconds", seconds);
    restore_state(*c, saved.bytes());
  }
  FakeTraining t({}, {median, mean}, {.max_epoch = 2});
  t.start();
  t.epoch(1);  // almost 0 s: of 100, 9000 and 0
  EXPECT_CONTAINS(log.lines[0], "1 minute 40 seconds");
  EXPECT_CONTAINS(log.lines[1], "50 minutes 33 seconds");
}

TEST_F(TrackersTest, time_left_may_be_told_seldom) {
  FakeTraining t({}, {PeriodicTrigger(EstimatedTimeLeft(), {.epochs = 2})}, {.max_epoch = 4});
  const auto start = std::chrono::steady_clock::now();
  t.start();
  for (int i = 0; i < 2; ++i) t.epoch(1, [] { sleep_ms(20); });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_EQ(log.lines.size(), 1u);
  // Two epochs are left, and two were measured.
  const double left = std::stod(log.lines[0].substr(std::string("Estimated Time Left: ").size()));
  EXPECT_GT(left, 0.039);
  EXPECT_LT(left, 1.01 * seconds);
}

TEST_F(TrackersTest, free_memory_is_logged_and_put) {
  FakeTraining t({}, {HostMemoryTracker()});
  t.start();
  t.epoch(1);
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_CONTAINS(log.lines[0], "Free RAM in setup_graph() is ");
  EXPECT_CONTAINS(log.lines[1], "Free RAM in before_train() is ");
  const double gigabytes = t.monitors().get_latest("HostFreeMemory (GB)");
  EXPECT_GT(gigabytes, 0.01);
  EXPECT_LT(gigabytes, 1e5);
}

// Puts one value of a list per epoch.
struct Puts : Callback {
  explicit Puts(std::vector<double> v) : values(std::move(v)) {}
  void trigger() override {
    if (next < values.size()) monitors().put_scalar("error", values[next++]);
  }
  std::vector<std::string> provides() const override { return {"error"}; }
  std::vector<double> values;
  size_t next = 0;
};

struct EarlyStoppingTest : TrackersTest {
  // The epoch after which training stops; 0: it does not.
  int64_t stops_after(std::vector<double> values, EarlyStoppingOptions options) {
    const auto stop = make<EarlyStopping>("error", options);
    const size_t count = values.size();
    FakeTraining t({}, {Puts(std::move(values)), stop});
    t.start();
    for (size_t i = 0; i < count; ++i) {
      t.epoch(1);
      for (const std::string& line : log.lines)
        if (line.find("'EarlyStopping' stops training") != std::string::npos) return t.loop().epoch_num;
    }
    return 0;
  }
};

TEST_F(EarlyStoppingTest, stops_when_nothing_gets_better) {
  EXPECT_EQ(stops_after({5, 4, 4, 4.5, 3}, {.patience = 2}), 4);
  EXPECT_CONTAINS(log.lines.back(),
                  "'error' did not get better than 4, of global_step 2, in 2 values; the last is 4.5");
}
TEST_F(EarlyStoppingTest, goes_on_while_it_gets_better) {
  EXPECT_EQ(stops_after({5, 4, 4, 3, 3, 2}, {.patience = 2}), 0);
}
TEST_F(EarlyStoppingTest, better_means_by_the_threshold) {
  EXPECT_EQ(stops_after({5, 4.9, 4.8, 4.7}, {.patience = 3, .threshold = 0.5}), 4);
}
TEST_F(EarlyStoppingTest, reverse_wants_larger_values) {
  EXPECT_EQ(stops_after({1, 2, 3, 2}, {.patience = 1, .reverse = true}), 4);
}
TEST_F(EarlyStoppingTest, nan_is_never_better) {
  EXPECT_EQ(stops_after({NAN, 5, NAN, 4}, {.patience = 2}), 0);
  EXPECT_EQ(stops_after({NAN, NAN}, {.patience = 2}), 2);
  EXPECT_CONTAINS(log.lines.back(), "was never a number in 2 values");
}

TEST_F(EarlyStoppingTest, a_value_counts_once) {
  FakeTraining t({}, {Puts({1}), EarlyStopping("error", {.patience = 1})});
  t.start();
  for (int i = 0; i < 5; ++i) t.epoch(1);
  EXPECT_TRUE(log.lines.empty());
}

TEST_F(EarlyStoppingTest, survives_a_resume) {
  const auto first = make<EarlyStopping>("error", EarlyStoppingOptions{.patience = 2});
  {
    FakeTraining t({}, {Puts({1, 2}), first});
    t.start();
    t.epoch(1);
    t.epoch(1);
  }
  const auto second = make<EarlyStopping>("error", EarlyStoppingOptions{.patience = 2});
  restore_state(*second, save_state(*first));
  FakeTraining t({}, {Puts({3}), second}, {.global_step = 2, .starting_epoch = 3});
  t.start();
  t.epoch(1);
  EXPECT_CONTAINS(log.lines.back(), "did not get better than 1, of global_step 1, in 2 values");
}

TEST_F(EarlyStoppingTest, refuses_what_cannot_decide) {
  EXPECT_CONTAINS(error_of([] { EarlyStopping("e", {.patience = 0}); }), ".patience is 0");
  EXPECT_CONTAINS(error_of([] { EarlyStopping("e", {.threshold = -1}); }), ".threshold is -1");
  EXPECT_CONTAINS(error_of([] {
                    FakeTraining({}, {HostMemoryTracker(), EarlyStopping("HostFreeMemory (GB)")});
                  }),
                  "[EarlyStopping] decides by 'HostFreeMemory (GB)', which is volatile");
  EXPECT_CONTAINS(error_of([] { FakeTraining({}, {EarlyStopping("error")}); }), "no callback provides");
}

TEST_F(EarlyStoppingTest, may_watch_a_summary_of_the_graph) {
  const GraphScope g;
  add_tensor_summary(placeholder({}, f32, "cost"), {"scalar"});
  EXPECT_NO_THROW(FakeTraining({}, {EarlyStopping("cost"), MergeAllSummaries()}));
  const std::string text = error_of([] { FakeTraining({}, {EarlyStopping("cots"), MergeAllSummaries()}); });
  EXPECT_CONTAINS(text, "Did you mean 'cost'?");
}

TEST_F(TrackersTest, a_command_gets_the_newest_values) {
  const TestDir dir;
  FakeTraining t({}, {Puts({0.25, 0.5}), SendStat("echo {error:.3f} >> " + dir.file("out"), {"error"})});
  t.start();
  t.epoch(1);
  t.epoch(1);
  EXPECT_EQ(dir.read("out"), "0.250\n0.500\n");
}

TEST_F(TrackersTest, a_command_that_fails_is_logged) {
  FakeTraining t({}, {Puts({1}), SendStat("exit {error}", {"error"})});
  t.start();
  t.epoch(1);
  EXPECT_CONTAINS(log.lines.back(), "[SendStat] exit code 1 from: exit 1");
}

TEST_F(TrackersTest, a_command_needs_names_that_exist) {
  EXPECT_CONTAINS(error_of([] { SendStat("echo", {}); }), "no names");
  EXPECT_CONTAINS(error_of([] { SendStat("echo {eror}", {"error"}); }), "Did you mean 'error'?");
  EXPECT_CONTAINS(error_of([] {
                    FakeTraining({}, {Puts({}), SendStat("echo {eror}", {"eror"})});
                  }),
                  "Did you mean 'error'?");
}

}  // namespace
}  // namespace martello
