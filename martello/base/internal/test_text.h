#pragma once
#include <martello/base/error.h>
#include <martello/base/log.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

// For tests of what the library says.
namespace martello::testing {

// The text of the E that f() throws; fails when it throws none.
template <class E = Error, class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

#define EXPECT_CONTAINS(text, part) EXPECT_PRED_FORMAT2(::testing::IsSubstring, part, text)

// Lines of the log while it lives.
class Log {
 public:
  Log() {
    logger::set_sink([this](logger::Level, std::string_view line) { lines.emplace_back(line); });
  }
  ~Log() { logger::set_sink({}); }
  std::vector<std::string> lines;
};

}  // namespace martello::testing
