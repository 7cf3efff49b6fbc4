#include <martello/base/internal/test_text.h>
#include <martello/callbacks/internal/progress_text.h>
#include <martello/callbacks/progress_bar.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/loop/internal/fake_training.h>
#include <martello/ops/binary.h>

#include <cstdlib>

namespace martello {
namespace {

using internal::clock_text;
using internal::Progress;
using internal::progress_line;
using testing::error_of;
using testing::FakeTraining;
using testing::Log;

TEST(progress_text, a_bar_has_rate_time_and_scalars) {
  const Progress p = {
      .done = 45, .total = 100, .elapsed_seconds = 12, .steps_per_second = 3.6, .scalars = {{"cost", 0.12345}}};
  EXPECT_EQ(internal::progress_bar(p), " 45%|####5     |45/100 [00:12<00:15, 3.60 steps/s] cost=0.123");
  EXPECT_EQ(progress_line(p), "45/100 (45%), 3.60 steps/s, 00:15 left, cost=0.123");
}

TEST(progress_text, begins_without_a_rate_and_ends_with_the_time) {
  EXPECT_EQ(internal::progress_bar({.done = 0, .total = 7}), "  0%|          |0/7 [00:00<?, ? steps/s]");
  EXPECT_EQ(progress_line({.done = 7, .total = 7, .elapsed_seconds = 3725, .steps_per_second = 1234.5}),
            "7/7 (100%), 1234 steps/s, 1:02:05 in all");
  EXPECT_EQ(internal::progress_bar({.done = 7, .total = 7, .steps_per_second = 1}),
            "100%|##########|7/7 [00:00<00:00, 1.00 steps/s]");
}

TEST(progress_text, times_are_clocks) {
  EXPECT_EQ(clock_text(0.4), "00:00");
  EXPECT_EQ(clock_text(59.6), "01:00");
  EXPECT_EQ(clock_text(360000), "100:00:00");
}

// An environment variable while it lives.
struct EnvironmentScope {
  EnvironmentScope(const char* n, const char* value) : name(n) { setenv(n, value, 1); }
  ~EnvironmentScope() { unsetenv(name); }
  const char* name;
};

TEST(progress_text, refreshes_seldom_where_nobody_looks) {
  EXPECT_EQ(internal::refresh_seconds(true), 0.5);
  EXPECT_EQ(internal::refresh_seconds(false), 180);
  {
    const EnvironmentScope job("SLURM_JOB_ID", "7");
    EXPECT_EQ(internal::refresh_seconds(false), 15);
    const EnvironmentScope nodes("SLURM_JOB_NUM_NODES", "2");
    EXPECT_EQ(internal::refresh_seconds(false), 60);
  }
  const EnvironmentScope mpi("OMPI_COMM_WORLD_SIZE", "2");
  EXPECT_EQ(internal::refresh_seconds(false), 60);
  const EnvironmentScope asked("MARTELLO_PROGRESS_REFRESH", "2.5");
  EXPECT_EQ(internal::refresh_seconds(true), 2.5);
}

struct ProgressBarTest : ::testing::Test {
  GraphScope g;
  Log log;
  Tensor x = placeholder({}, f32, "x");
  Tensor cost = multiply(x, 2, "loss/cost");
};

TEST_F(ProgressBarTest, is_one_line_per_epoch_when_nobody_looks) {
  FakeTraining t({}, {ProgressBar({"loss/cost"}, {.is_terminal = false})});
  t.start();
  for (float value : {1.0f, 2.0f}) t.epoch(3, [] {}, {{x, value}});
  t.finish();
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_CONTAINS(log.lines[0], "[ProgressBar] epoch 1: 3/3 (100%), ");
  EXPECT_CONTAINS(log.lines[0], "in all, cost=2");
  EXPECT_CONTAINS(log.lines[1], "cost=4");
}

TEST_F(ProgressBarTest, is_one_line_per_interval) {
  FakeTraining t({}, {ProgressBar({}, {.refresh_seconds = 1e-9, .is_terminal = false})});
  t.start();
  t.epoch(3);
  ASSERT_EQ(log.lines.size(), 4u);
  EXPECT_CONTAINS(log.lines[0], "epoch 1: 1/3 (33%)");
  EXPECT_CONTAINS(log.lines[1], "left");
}

TEST_F(ProgressBarTest, redraws_a_line_on_a_terminal) {
  FakeTraining t({}, {ProgressBar({"x"}, {.refresh_seconds = 1e-9, .is_terminal = true})});
  t.start();
  ::testing::internal::CaptureStderr();
  t.epoch(2, [] {}, {{x, 0.5f}});
  t.finish();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(text.starts_with("\r 50%|#####     |1/2 [00:00<00:00, ")) << text;
  EXPECT_TRUE(text.ends_with(" x=0.5\x1b[K\n")) << text;
  EXPECT_TRUE(log.lines.empty());
}

TEST_F(ProgressBarTest, shows_scalars_with_one_step_per_epoch) {
  FakeTraining t({}, {ProgressBar({"x"}, {.is_terminal = false})});
  t.start();
  for (float value : {1.0f, 2.0f, 3.0f}) t.epoch(1, [] {}, {{x, value}});
  EXPECT_CONTAINS(log.lines[2], "x=3");
}

// Two runs in each step: the first one's values are shown.
TEST_F(ProgressBarTest, fetches_once_per_step) {
  FakeTraining t({}, {ProgressBar({"x"}, {.is_terminal = false})});
  t.start();
  t.epoch(1, [&] { t.hooked_sess().run({}, {{x, 7.0f}}); }, {{x, 1.0f}});
  EXPECT_CONTAINS(log.lines[0], "x=1");
}

TEST_F(ProgressBarTest, closes_when_training_breaks_off) {
  FakeTraining t({}, {ProgressBar({}, {.is_terminal = false})});
  t.start();
  EXPECT_ANY_THROW(t.epoch(5, [&] {
    if (t.loop().local_step == 2) throw InvalidArgument("enough");
  }));
  t.finish();
  EXPECT_CONTAINS(log.lines.back(), "2/5 (40%)");
}

TEST_F(ProgressBarTest, says_nothing_of_epochs_without_steps) {
  FakeTraining t({}, {ProgressBar({}, {.is_terminal = false})});
  t.start();
  t.epoch(0);
  EXPECT_TRUE(log.lines.empty());
}

TEST_F(ProgressBarTest, takes_scalars_only) {
  placeholder({2}, f32, "vector");
  EXPECT_CONTAINS(error_of([] { FakeTraining({}, {ProgressBar({"vector"})}); }), "'vector' is [2]");
  EXPECT_CONTAINS(error_of([] { FakeTraining({}, {ProgressBar({"loss/cst"})}); }),
                  "Did you mean 'loss/cost'?\n  at progress_bar_test.cc");
  EXPECT_CONTAINS(error_of([] { ProgressBar({}, {.refresh_seconds = -1}); }), "-1");
}

}  // namespace
}  // namespace martello
