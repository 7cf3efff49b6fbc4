#include <gtest/gtest.h>
#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>

#include <limits>

namespace martello {
namespace {

using testing::error_of;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();

int64_t product(std::vector<int64_t> sizes) { return checked_product(sizes); }

TEST(Checked, results_that_fit_are_exact) {
  EXPECT_EQ(checked_add(kMost - 1, 1), kMost);
  EXPECT_EQ(checked_mul(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_EQ(product({2, 3, 4}), 24);
}

TEST(Checked, overflow_is_refused) {
  EXPECT_THROW(checked_add(kMost, 1), InvalidArgument);
  EXPECT_THROW(checked_add(kLeast, -1), InvalidArgument);
  EXPECT_THROW(checked_mul(kLeast, -1), InvalidArgument);
  EXPECT_THROW(product({int64_t{1} << 32, int64_t{1} << 31}), InvalidArgument);
}

TEST(Checked, overflow_names_both_operands) {
  const std::string text = error_of<InvalidArgument>([&] { checked_mul(int64_t{1} << 40, 123456789); });
  EXPECT_EQ(text, "[size] 1099511627776 * 123456789 does not fit into 64 bits.");
}

TEST(Checked, product_of_nothing_is_one) { EXPECT_EQ(product({}), 1); }

TEST(Checked, a_zero_gives_zero_wherever_it_stands) {
  EXPECT_EQ(product({0, kMost, kMost}), 0);
  EXPECT_EQ(product({kMost, kMost, 0}), 0);
}

TEST(Checked, a_negative_size_is_refused_beside_a_zero_too) { EXPECT_THROW(product({0, -1}), InvalidArgument); }

TEST(Checked, ceil_div_rounds_up) {
  EXPECT_EQ(ceil_div(0, 4), 0);
  EXPECT_EQ(ceil_div(8, 4), 2);
  EXPECT_EQ(ceil_div(9, 4), 3);
  EXPECT_EQ(ceil_div(-9, 4), -2);
  EXPECT_EQ(ceil_div(kMost, 2), (int64_t{1} << 62));
  EXPECT_THROW(ceil_div(1, 0), InvalidArgument);
}

TEST(Checked, align_up_gives_the_next_multiple_or_refuses) {
  EXPECT_EQ(align_up(0, 64), 0);
  EXPECT_EQ(align_up(64, 64), 64);
  EXPECT_EQ(align_up(65, 64), 128);
  EXPECT_THROW(align_up(kMost, 64), InvalidArgument);
}

}  // namespace
}  // namespace martello
