#include <martello/base/error.h>
#include <martello/loop/interrupt.h>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace martello {
namespace {

int seen_by_own_handler = 0;
void own_handler(int number) { seen_by_own_handler = number; }

TEST(Interrupt, a_signal_is_kept_and_older_handlers_come_back) {
  const auto before = std::signal(SIGTERM, own_handler);
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
