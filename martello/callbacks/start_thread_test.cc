#include <martello/base/internal/test_text.h>
#include <martello/callbacks/start_thread.h>
#include <martello/loop/internal/fake_training.h>

#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace martello {
namespace {

using testing::error_of;
using testing::FakeTraining;
using testing::Log;

double seconds_of(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class F>
void wait_until(F&& is_so) {
  for (int i = 0; i < 5000 && !is_so(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(is_so());
}

struct StartThreadTest : ::testing::Test {
  Log log;
};

TEST_F(StartThreadTest, lives_from_before_train_to_after_train) {
  std::atomic<bool> has_begun = false, has_ended = false;
  FakeTraining t({}, {StartThread("worker", [&](const StopFlag& stop) {
                   has_begun = true;
                   while (!stop.wait(10)) {
                   }
                   EXPECT_TRUE(stop.is_set());
                   has_ended = true;
                 })});
  EXPECT_FALSE(has_begun);
  t.start();
  wait_until([&] { return has_begun.load(); });
  t.epoch(2);
  EXPECT_FALSE(has_ended);
  EXPECT_LT(seconds_of([&] { t.finish(); }), 4);
  EXPECT_TRUE(has_ended);
}

TEST_F(StartThreadTest, takes_no_signals) {
  std::atomic<int> blocked = -1;
  FakeTraining t({}, {StartThread("worker", [&](const StopFlag&) {
                   sigset_t mask;
                   pthread_sigmask(SIG_SETMASK, nullptr, &mask);
                   blocked = sigismember(&mask, SIGINT);
                 })});
  t.start();
  wait_until([&] { return blocked.load() >= 0; });
  EXPECT_EQ(blocked, 1);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGINT), 0);
}

TEST_F(StartThreadTest, an_error_fails_the_next_step_by_name) {
  std::atomic<bool> go = false;
  FakeTraining t({}, {StartThread("worker", [&](const StopFlag&) {
                   while (!go) std::this_thread::yield();
                   throw std::runtime_error("out of cheese");
                 })});
  t.start();
  t.epoch(2);
  go = true;
  const std::string text = error_of([&] {
    for (int i = 0; i < 2000; ++i) t.epoch(1, [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  });
  for (const char* part : {"thread 'worker'", "out of cheese", "in trigger_step"}) EXPECT_CONTAINS(text, part);
  EXPECT_NO_THROW(t.finish());
}

TEST_F(StartThreadTest, an_error_at_the_very_end_fails_after_train) {
  FakeTraining t({}, {StartThread("worker", [](const StopFlag& stop) {
                   stop.wait(10);
                   throw InvalidArgument("[mine] too late");
                 })});
  t.start();
  const std::string text = error_of<InvalidArgument>([&] { t.finish(); });
  EXPECT_CONTAINS(text, "in thread 'worker'");
}

TEST_F(StartThreadTest, one_that_does_not_stop_is_left_with_an_error_in_the_log) {
  const auto release = std::make_shared<std::atomic<bool>>(false);
  const auto is_gone = std::make_shared<std::atomic<bool>>(false);
  {
    FakeTraining t({}, {StartThread("deaf",
                                    [=](const StopFlag&) {
                                      while (!*release) std::this_thread::yield();
                                      *is_gone = true;
                                    },
                                    {.wait_seconds = 0.05})});
    t.start();
    t.finish();
    EXPECT_CONTAINS(log.lines.back(), "thread 'deaf' still runs 0.05 s after");
  }
  *release = true;
  wait_until([&] { return is_gone->load(); });
}

TEST_F(StartThreadTest, may_be_left_alone_at_the_end) {
  const auto release = std::make_shared<std::atomic<bool>>(false);
  const auto is_gone = std::make_shared<std::atomic<bool>>(false);
  FakeTraining t({}, {StartThread("free",
                                  [=](const StopFlag& stop) {
                                    while (!*release) std::this_thread::yield();
                                    EXPECT_FALSE(stop.is_set());
                                    *is_gone = true;
                                  },
                                  {.stop_at_last = false})});
  t.start();
  EXPECT_LT(seconds_of([&] { t.finish(); }), 4);
  *release = true;
  wait_until([&] { return is_gone->load(); });
  EXPECT_TRUE(log.lines.empty());
}

TEST_F(StartThreadTest, refuses_an_empty_function) {
  EXPECT_CONTAINS(error_of([] { StartThread("worker", {}); }), "thread 'worker' is empty");
  EXPECT_CONTAINS(error_of([] { StartThread("worker", [](const StopFlag&) {}, {.wait_seconds = -1}); }), "-1");
}

}  // namespace
}  // namespace martello
