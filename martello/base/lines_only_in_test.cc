#include <martello/base/internal/lines_only_in.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using internal::lines_only_in;
using Lines = std::vector<std::string>;

TEST(lines_only_in, counts_lines_whatever_their_order) {
  EXPECT_EQ(lines_only_in("a\nb\na", "a\nc"), (Lines{"b", "a"}));
  EXPECT_EQ(lines_only_in("a\nc", "a\nb\na"), (Lines{"c"}));
  EXPECT_EQ(lines_only_in("a\nb", "b\na"), Lines());
  EXPECT_EQ(lines_only_in("", "a"), Lines{""});
}

}  // namespace
}  // namespace martello
