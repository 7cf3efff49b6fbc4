#include <gtest/gtest.h>
#include <martello/base/source_line.h>

#include <thread>

namespace martello {
namespace {

constexpr SourceLine at(unsigned line) { return {"dir/model.cc", line, "f"}; }
unsigned effective_line() { return LineScope::effective(at(1)).line; }
SourceLine caller(SourceLine line = SourceLine::current()) { return line; }

TEST(SourceLine, current_is_the_line_of_the_caller) {
  const unsigned here = __LINE__ + 1;
  const SourceLine line = caller();
  EXPECT_EQ(line.line, here);
  EXPECT_EQ(line.str(), "source_line_test.cc:" + std::to_string(here));
}

TEST(SourceLine, text_is_file_name_and_line_or_empty) {
  EXPECT_EQ(at(12).str(), "model.cc:12");
  EXPECT_EQ((SourceLine{"model.cc", 3, ""}).str(), "model.cc:3");
  EXPECT_EQ(SourceLine().str(), "");
}

TEST(LineScope, without_a_scope_a_node_keeps_its_own_line) { EXPECT_EQ(effective_line(), 1u); }

TEST(LineScope, outermost_wins_and_ends_with_its_scope) {
  {
    const LineScope outer(at(10));
    const LineScope inner(at(20));
    EXPECT_EQ(effective_line(), 10u);
  }
  EXPECT_EQ(effective_line(), 1u);
}

TEST(LineScope, pin_wins_over_an_outer_scope_until_it_ends) {
  const LineScope outer(at(10));
  {
    const LineScope pin(at(20), LineScope::Kind::pin);
    EXPECT_EQ(effective_line(), 20u);
    const LineScope inside(at(30));
    EXPECT_EQ(effective_line(), 20u);
    const LineScope second(at(40), LineScope::Kind::pin);
    EXPECT_EQ(effective_line(), 40u);
  }
  EXPECT_EQ(effective_line(), 10u);
}

TEST(LineScope, an_unknown_line_changes_nothing) {
  const LineScope unknown{SourceLine()};
  EXPECT_EQ(effective_line(), 1u);
  const LineScope outer(at(10));
  const LineScope pin(SourceLine(), LineScope::Kind::pin);
  EXPECT_EQ(effective_line(), 10u);
}

TEST(LineScope, each_thread_has_its_own) {
  const LineScope outer(at(10));
  unsigned other = 0;
  std::thread([&] { other = effective_line(); }).join();
  EXPECT_EQ(other, 1u);
}

}  // namespace
}  // namespace martello
