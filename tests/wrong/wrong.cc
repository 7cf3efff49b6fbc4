#include "wrong.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <thread>

namespace martello::testing {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

class WrongTest : public ::testing::Test {
 public:
  WrongTest(std::string file, WrongProgram program) : file_(std::move(file)), program_(std::move(program)) {}

  void TestBody() override {
    unsigned here = 0;
    try {
      GraphScope scope;
      program_.run(here);
    } catch (const InternalError& e) {
      FAIL() << "we blame ourselves for what the user did:\n" << e.what();
    } catch (const Error& e) {
      return check_text(e.what(), here);
    } catch (const std::exception& e) {
      FAIL() << "an exception that is no Error: " << e.what();
    }
    FAIL() << "was not refused";
  }

 private:
  void check_text(const std::string& text, unsigned here) const {
    if (std::getenv("MARTELLO_SHOW_ERRORS")) std::cout << text << "\n";  // for a look at how they read
    EXPECT_EQ(text.front(), '[') << "component first:\n" << text;
    for (const std::string& part : program_.says)
      EXPECT_NE(text.find(part), std::string::npos) << "lacks '" << part << "':\n" << text;
    if (here == 0) return;
    const std::string line = str("at ", file_, ":", here);
    EXPECT_EQ(count(text + "\n", line + "\n"), 1u) << "has not once '" << line << "':\n" << text;
  }

  std::string file_;
  WrongProgram program_;
};

}  // namespace

WrongPrograms::WrongPrograms(const char* file, int line, WrongProgram program) {
  const std::string name = SourceLine{file, 1, ""}.str();
  const std::string base = name.substr(0, name.find(':')), stem = base.substr(0, base.find('.'));
  ::testing::RegisterTest(("wrong_" + stem).c_str(), program.label, nullptr, nullptr, file, line,
                          [=]() -> ::testing::Test* { return new WrongTest(base, program); });
}

void on_a_thread_of_its_own(const std::function<void()>& f) {
  std::exception_ptr error;
  std::thread thread([&] {
    try {
      f();
    } catch (...) {
      error = std::current_exception();
    }
  });
  thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace martello::testing
