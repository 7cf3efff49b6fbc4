#include <gtest/gtest.h>
#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/tensor/shape.h>

#include <limits>

namespace martello {
namespace {

using testing::error_of;

TEST(Shape, text_shows_sizes_and_question_marks) {
  EXPECT_EQ(Shape(32, kUnknown, 3).str(), "[32, ?, 3]");
  EXPECT_EQ(Shape(-7).str(), "[?]");
  EXPECT_EQ(Shape().str(), "[]");
}

TEST(Shape, index_counts_from_both_ends) {
  const Shape shape(2, 3, 4);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 4);
  EXPECT_EQ(shape[-3], 2);
}

TEST(Shape, index_hides_the_symbol_of_an_unknown) { EXPECT_EQ(Shape(-5, 3)[0], kUnknown); }

TEST(Shape, index_out_of_range_is_refused_with_index_and_shape) {
  const Shape shape(2, 3);
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { shape[2]; }), "dimension 2 is out of range for [2, 3]");
  EXPECT_THROW(shape[-3], InvalidArgument);
  EXPECT_THROW(Shape()[0], InvalidArgument);
}

TEST(Shape, is_known_means_every_dimension) {
  EXPECT_TRUE(Shape(2, 0).is_known());
  EXPECT_TRUE(Shape().is_known());
  EXPECT_FALSE(Shape(2, kUnknown).is_known());
  EXPECT_FALSE(Shape(2, -9).is_known());
}

TEST(Shape, num_elements_is_the_product) {
  EXPECT_EQ(Shape(2, 3, 4).num_elements(), 24);
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_EQ(Shape(5, 0).num_elements(), 0);
  EXPECT_EQ(Shape(2, 3, 4).num_elements(1, 3), 12);
  EXPECT_EQ(Shape(2, 3, 4).num_elements(1, 1), 1);
}

TEST(Shape, num_elements_of_a_known_part_does_not_need_the_rest) {
  EXPECT_EQ(Shape(kUnknown, 3, 4).num_elements(1, 3), 12);
}

TEST(Shape, num_elements_of_an_unknown_is_refused_with_the_shape) {
  EXPECT_CONTAINS(error_of<InvalidArgument>([] { Shape(kUnknown, 3).num_elements(); }), "[?, 3]");
}

TEST(Shape, product_overflow_is_refused_with_the_shape) {
  const std::string text = error_of<InvalidArgument>([] { Shape(int64_t{1} << 40, int64_t{1} << 40).num_elements(); });
  EXPECT_CONTAINS(text, "1099511627776 * 1099511627776 does not fit");
  EXPECT_CONTAINS(text, "[1099511627776, 1099511627776]");
}

TEST(Shape, a_zero_among_huge_dimensions_is_no_overflow) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Shape(most, most, 0).num_elements(), 0);
}

TEST(Shape, equality_compares_symbols) {
  EXPECT_EQ(Shape(-2, 3), Shape(-2, 3));
  EXPECT_NE(Shape(-2, 3), Shape(-3, 3));
  EXPECT_EQ(Shape(-2, 3).without_symbols(), Shape(kUnknown, 3));
  EXPECT_NE(Shape(2), Shape(2, 1));
}

TEST(Shape, with_replaces_one_dimension_of_a_copy) {
  const Shape shape(2, 3);
  EXPECT_EQ(shape.with(-1, 7), Shape(2, 7));
  EXPECT_EQ(shape.with(0, -4).symbolic()[0], -4);
  EXPECT_EQ(shape, Shape(2, 3));
  EXPECT_THROW(shape.with(2, 1), InvalidArgument);
}

TEST(Shape, slice_takes_a_range) {
  const Shape shape(2, -3, 4);
  EXPECT_EQ(shape.slice(1, 3), Shape(-3, 4));
  EXPECT_EQ(shape.slice(3, 3), Shape());
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { shape.slice(2, 4); }), "dimensions [2, 4) of [2, ?, 4]");
  EXPECT_THROW(shape.slice(2, 1), InvalidArgument);
  EXPECT_THROW(shape.slice(-1, 1), InvalidArgument);
}

TEST(Shape, push_back_adds_the_innermost) {
  Shape shape;
  shape.push_back(5);
  shape.push_back(-2);
  EXPECT_EQ(shape, Shape(5, -2));
}

TEST(NormalizedAxis, counts_from_both_ends_or_says_minus_one) {
  EXPECT_EQ(normalized_axis(0, 2), 0);
  EXPECT_EQ(normalized_axis(-2, 2), 0);
  EXPECT_EQ(normalized_axis(-1, 2), 1);
  EXPECT_EQ(normalized_axis(2, 2), -1);
  EXPECT_EQ(normalized_axis(-3, 2), -1);
  EXPECT_EQ(normalized_axis(0, 0), -1);
  EXPECT_EQ(normalized_axis(std::numeric_limits<int>::min(), 2), -1);
}

}  // namespace
}  // namespace martello
