#include <martello/loop/time_account.h>

#include <martello/base/internal/test_text.h>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <numeric>

namespace martello {
namespace {

using enum TimePart;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

using Seconds = std::array<double, kNumTimeParts>;

// Busy for so long; what it really took, on a machine that does other things too, is added to `seconds`.
void work_us(double us, double& seconds) {
  const double start = now_seconds();
  while (now_seconds() < start + 1e-6 * us) {
  }
  seconds += now_seconds() - start;
}
void work_us(double us) {
  double ignored = 0;
  work_us(us, ignored);
}

// A step as trainers do it, with so many microseconds of each part.
void step(TimeAccount& account, const Seconds& us, Seconds& seconds) {
  account.begin_step();
  account.switch_to(callbacks);
  work_us(us[2] / 2, seconds[2]);
  if (us[0] > 0) {
    const TimeAccount::Scope wait(&account, input);
    work_us(us[0], seconds[0]);
  }
  account.switch_to(compute);
  work_us(us[1], seconds[1]);
  account.switch_to(callbacks);
  work_us(us[2] / 2, seconds[2]);
  account.switch_to(monitors);
  work_us(us[3], seconds[3]);
  account.switch_to(callbacks);
}

struct Measured {
  TimeReport report;
  Seconds seconds = {};  // by the test
};
Measured measure(int steps, const Seconds& us) {
  Measured m;
  TimeAccount account;
  account.begin_epoch();
  for (int i = 0; i < steps; ++i) step(account, us, m.seconds);
  m.report = account.end_epoch();
  return m;
}

double sum(const Seconds& seconds) { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

TEST(TimeAccount, long_steps_are_split_into_parts_that_are_the_whole) {
  const Measured m = measure(100, {400, 200, 300, 100});
  for (size_t i = 0; i < kNumTimeParts; ++i)
    EXPECT_NEAR(m.report.seconds[i], m.seconds[i], 0.02 * m.report.wall_seconds) << to_string(static_cast<TimePart>(i));
  EXPECT_NEAR(sum(m.report.seconds), m.report.wall_seconds, 1e-9);
}

TEST(TimeAccount, short_steps_are_measured_now_and_then) {
  const Measured m = measure(5000, {0, 6, 3, 1});
  for (size_t i = 0; i < kNumTimeParts; ++i)
    EXPECT_NEAR(m.report.seconds[i], m.seconds[i], 0.2 * m.report.wall_seconds) << to_string(static_cast<TimePart>(i));
  EXPECT_NEAR(sum(m.report.seconds), m.report.wall_seconds, 1e-6 * m.report.wall_seconds);
}

TEST(TimeAccount, waits_among_short_steps_are_never_missed) {
  TimeAccount account;
  account.begin_epoch();
  Seconds seconds = {};
  for (int i = 0; i < 6400; ++i) step(account, {i % 64 == 40 ? 300. : 0., 3, 0, 0}, seconds);
  const TimeReport r = account.end_epoch();
  EXPECT_NEAR(r.seconds[0], seconds[0], 0.02 * r.wall_seconds) << "none of the waits is in a step that is measured";
  EXPECT_NEAR(sum(r.seconds), r.wall_seconds, 1e-6 * r.wall_seconds);
}

TEST(TimeAccount, of_nested_scopes_the_outermost_counts) {
  TimeAccount account;
  account.begin_epoch();
  account.begin_step();
  {
    const TimeAccount::Scope outer(&account, monitors);
    work_us(1000);
    const TimeAccount::Scope inner(&account, input);
    work_us(1000);
  }
  const TimeReport r = account.end_epoch();
  EXPECT_EQ(r.seconds[0], 0);
  EXPECT_GT(r.share(monitors), 0.9);
}

TEST(TimeAccount, while_it_is_held_time_stays_where_it_is) {
  TimeAccount account;
  account.begin_epoch();
  account.begin_step();
  account.switch_to(callbacks);
  account.hold(true);
  account.switch_to(compute);
  {
    const TimeAccount::Scope wait(&account, input);
    work_us(2000);
  }
  const TimeReport r = account.end_epoch();
  EXPECT_EQ(r.seconds[0], 0);
  EXPECT_GT(r.share(callbacks), 0.9);
}

TEST(TimeAccount, outside_an_epoch_and_without_an_account_scopes_do_nothing) {
  TimeAccount account;
  { const TimeAccount::Scope early(&account, input); }
  { const TimeAccount::Scope none(nullptr, input); }
  account.switch_to(compute);
  account.begin_epoch();
  const TimeReport r = account.end_epoch();
  EXPECT_EQ(r.seconds[0], 0);
}

struct Decoding : WaitedInput {
  std::string slowest_stage() override { return "map 'decode' (train.cc:12)"; }
};

TEST(TimeAccount, the_verdict_names_the_largest_part_and_the_slowest_stage) {
  Decoding decoding;
  const TimeReport waiting{.seconds = {6.1, 3.5, 0.3, 0.1}, .wall_seconds = 10, .input = &decoding};
  EXPECT_EQ(waiting.verdict(),
            "input-bound 61 %: slowest stage map 'decode' (train.cc:12); compute 35 %, callbacks 3 %, monitors 1 %");
  const TimeReport busy{.seconds = {0.5, 9, 0.3, 0.2}, .wall_seconds = 10, .input = &decoding};
  EXPECT_EQ(busy.verdict(), "compute-bound 90 %; input 5 %, callbacks 3 %, monitors 2 %");
}

}  // namespace
}  // namespace martello
