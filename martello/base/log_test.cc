#include <gtest/gtest.h>
#include <martello/base/error.h>
#include <martello/base/log.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace martello::logger {
namespace {

using Lines = std::vector<std::string>;

struct Log : testing::Test {
  ~Log() override {
    set_sink({});
    set_level(Level::info);
  }
  void collect() {
    set_sink([this](Level level, std::string_view text) { lines.push_back(str(level, ": ", text)); });
  }
  Lines lines;
};

// In a process of its own, because the environment is read once.
struct LogEnvironment : testing::Test {
  LogEnvironment() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

std::string with_zeros(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return '0' <= c && c <= '9'; }, '0');
  return text;
}

TEST_F(Log, a_line_has_time_place_level_and_text) {
  testing::internal::CaptureStderr();
  warn("lr is ", 0.1);
  info(5, " steps");
  EXPECT_EQ(with_zeros(testing::internal::GetCapturedStderr()),
            "[0000 00:00:00 @log_test.cc:00] WRN lr is 0.0\n[0000 00:00:00 @log_test.cc:00] 0 steps\n");
}

TEST_F(Log, a_line_shows_where_it_was_written) {
  testing::internal::CaptureStderr();
  const unsigned line = __LINE__ + 1;
  error("x");
  EXPECT_NE(testing::internal::GetCapturedStderr().find(str("@log_test.cc:", line, "] ERR x\n")), std::string::npos);
}

TEST_F(Log, a_file_gets_no_color) {
  testing::internal::CaptureStderr();
  error("x");
  EXPECT_EQ(testing::internal::GetCapturedStderr().find('\x1b'), std::string::npos);
}

TEST_F(Log, eight_threads_write_whole_lines) {
  constexpr int kThreads = 8, kLines = 200;
  const std::string body(300, 'x');
  testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kLines; ++i) info("<", body, ">");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Lines written = split(testing::internal::GetCapturedStderr(), '\n');
  ASSERT_EQ(written.size(), size_t{kThreads * kLines + 1});
  EXPECT_EQ(written.back(), "");
  const std::string end = "] <" + body + ">";
  constexpr size_t kPlaceLength = sizeof "[0000 00:00:00 @log_test.cc:00" - 1;
  for (size_t i = 0; i + 1 < written.size(); ++i) ASSERT_EQ(written[i].substr(kPlaceLength), end);
}

TEST_F(Log, the_level_hides_what_lies_below) {
  collect();
  debug("a");
  set_level(Level::warn);
  info("b");
  warn("c");
  error("d");
  EXPECT_EQ(lines, (Lines{"warn: c", "error: d"}));
}

TEST_F(Log, a_hidden_line_is_not_built) {
  struct Loud {
    std::string str() const { throw InternalError("built"); }
  };
  EXPECT_NO_THROW(debug(Loud()));
}

TEST_F(Log, an_empty_sink_restores_standard_error) {
  collect();
  set_sink({});
  testing::internal::CaptureStderr();
  info("back");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("back"), std::string::npos);
  EXPECT_TRUE(lines.empty());
}

TEST_F(Log, a_sink_may_log_to_standard_error) {
  set_sink([](Level, std::string_view text) { info("inner ", text); });
  testing::internal::CaptureStderr();
  info("line");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("inner line"), std::string::npos);
}

TEST_F(Log, a_sink_cannot_replace_itself) {
  set_sink([](Level, std::string_view) { set_sink({}); });
  EXPECT_THROW(info("x"), FailedPrecondition);
}

TEST_F(Log, a_sink_that_throws_leaves_the_log_usable) {
  set_sink([](Level, std::string_view) { throw InvalidArgument("disk full"); });
  EXPECT_THROW(info("a"), InvalidArgument);
  collect();
  info("b");
  EXPECT_EQ(lines, Lines{"info: b"});
}

TEST_F(Log, channels_are_off_by_default) {
  collect();
  detail("plan", "x");
  EXPECT_TRUE(lines.empty());
}

TEST_F(LogEnvironment, channels_named_in_martello_log_are_written) {
  auto run = [] {
    setenv("MARTELLO_LOG", "session,plan", 1);
    detail("other", "hidden");
    detail("plan", "gemm");
    std::_Exit(channel_enabled("session") && !channel_enabled("") ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "\\] \\[plan\\] gemm");
}

TEST_F(LogEnvironment, level_comes_from_martello_log_level) {
  auto run = [] {
    setenv("MARTELLO_LOG_LEVEL", "error", 1);
    std::_Exit(enabled(Level::error) && !enabled(Level::warn) ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

TEST_F(LogEnvironment, an_unknown_level_is_said_aloud) {
  auto run = [] {
    setenv("MARTELLO_LOG_LEVEL", "loud", 1);
    std::_Exit(enabled(Level::info) && !enabled(Level::debug) ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "MARTELLO_LOG_LEVEL is 'loud'");
}

}  // namespace
}  // namespace martello::logger
