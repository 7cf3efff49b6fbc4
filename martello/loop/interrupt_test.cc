#include <martello/base/error.h>
#include <martello/loop/interrupt.h>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace martello {
namespace {

std::atomic<int> seen_by_own_handler = 0;
void own_handler(int number) { seen_by_own_handler = number; }

TEST(Interrupt, a_signal_is_kept_and_older_handlers_come_back) {
  const auto before = std::signal(SIGTERM, own_handler);
  seen_by_own_handler = 0;
  {
    const InterruptScope scope;
    EXPECT_EQ(interrupt_signal(), 0);
    std::raise(SIGTERM);
    std::raise(SIGTERM);
    EXPECT_EQ(interrupt_signal(), SIGTERM);
    {
      const InterruptScope inner;
      std::raise(SIGINT);
    }
    EXPECT_EQ(interrupt_signal(), SIGTERM) << "the first one counts";
    EXPECT_EQ(seen_by_own_handler, 0);
  }
  EXPECT_EQ(interrupt_signal(), 0) << "training that does not handle signals sees none";
  std::raise(SIGTERM);
  EXPECT_EQ(seen_by_own_handler, SIGTERM);
  std::signal(SIGTERM, before);
  const InterruptScope scope;
  EXPECT_EQ(interrupt_signal(), 0) << "a new scope starts afresh";
}

// Handlers run on any thread, and may still be running when the scope is closed.
TEST(Interrupt, scopes_come_and_go_in_a_storm_of_signals) {
  const auto before = std::signal(SIGTERM, own_handler);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!is_over) kill(getpid(), SIGTERM);
    });
  for (int i = 0; i < 50; ++i) {
    const InterruptScope scope;
    std::this_thread::yield();
  }
  EXPECT_EQ(interrupt_signal(), 0);
  is_over = true;
  for (std::thread& t : threads) t.join();
  std::signal(SIGTERM, before);
}

TEST(Interrupt, refuses_no_grace) { EXPECT_THROW(InterruptScope scope(0), InvalidArgument); }

TEST(InterruptDeathTest, a_second_sigint_kills_at_once) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto two = [] {
    const InterruptScope scope;
    std::raise(SIGINT);
    std::raise(SIGINT);
  };
  EXPECT_EXIT(two(), ::testing::KilledBySignal(SIGINT), "");
}

// 0 or the error.
int write_beyond_the_limit() {
  const rlimit limit = {100, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
  FILE* file = std::tmpfile();
  if (pwrite(fileno(file), "x", 1, 200) == 1) return 0;
  return errno;
}

TEST(InterruptDeathTest, a_write_beyond_the_limit_of_file_sizes_fails_and_does_not_kill) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto in_scope = [] {
    const InterruptScope scope;
    std::_Exit(write_beyond_the_limit());
  };
  EXPECT_EXIT(in_scope(), ::testing::ExitedWithCode(EFBIG), "");
  const auto behind_it = [] {
    { const InterruptScope scope; }
    std::_Exit(write_beyond_the_limit());
  };
  EXPECT_EXIT(behind_it(), ::testing::KilledBySignal(SIGXFSZ), "") << "what was there before is back";
}

TEST(InterruptDeathTest, the_process_ends_when_the_grace_has_passed) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto hang = [] {
    const InterruptScope scope(0.05);
    std::raise(SIGTERM);
    std::this_thread::sleep_for(std::chrono::seconds(20));
  };
  EXPECT_EXIT(hang(), ::testing::ExitedWithCode(143), "grace");
}

}  // namespace
}  // namespace martello
