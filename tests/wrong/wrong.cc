#include "wrong.h"

#include <gtest/gtest.h>

#include <exception>
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
    Line here = 0;
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
  void check_text(const std::string& text, Line here) const {
    if (std::getenv("MARTELLO_SHOW_ERRORS")) printf("%s\n", text.c_str());
    EXPECT_EQ(text.front(), '[') << "component first:\n" << text;
    for (const std::string& part : program_.says)
      EXPECT_NE(text.find(part), std::string::npos) << "lacks '" << part << "':\n" << text;
    if (here == 0) return;  // a fault in a text, whose own line is among `says`
    const std::string line = str("at ", file_, ":", here);
    EXPECT_EQ(count(text + "\n", line + "\n"), 1u) << "has not once '" << line << "':\n" << text;
  }

  std::string file_;
  WrongProgram program_;
};

}  // namespace

WrongPrograms::WrongPrograms(const char* file, std::vector<WrongProgram> rows) {
  const std::string name = SourceLine{file, 1, ""}.str();
  const std::string base = name.substr(0, name.find(':')), stem = base.substr(0, base.find('.'));
  for (const WrongProgram& row : rows)
    ::testing::RegisterTest(("wrong_" + stem).c_str(), row.label, nullptr, nullptr, file, 1,
                            [=]() -> ::testing::Test* { return new WrongTest(base, row); });
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
