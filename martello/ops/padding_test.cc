#include <gtest/gtest.h>
#include <martello/base/checked.h>
#include <martello/ops/padding.h>

namespace martello {
namespace {

using internal::window_axis;
using internal::WindowAxis;

struct Row {
  int64_t in, window;
  int stride, dilation;
  Padding padding;
  int64_t out, before, after;
};

TEST(padding, gives_outputs_and_zeros) {
  const Row rows[] = {{5, 3, 1, 1, Pad::same, 5, 1, 1},          {5, 2, 1, 1, Pad::same, 5, 0, 1},
                      {5, 3, 2, 1, Pad::same, 3, 1, 1},          {6, 3, 2, 1, Pad::same, 3, 0, 1},
                      {224, 7, 2, 1, Pad::same, 112, 2, 3},      {5, 1, 2, 1, Pad::same, 3, 0, 0},
                      {2, 3, 5, 1, Pad::same, 1, 0, 1},          {7, 3, 1, 2, Pad::same, 7, 2, 2},
                      {5, 3, 1, 1, Pad::valid, 3, 0, 0},         {6, 3, 2, 1, Pad::valid, 2, 0, 0},
                      {7, 3, 1, 3, Pad::valid, 1, 0, 0},         {5, 3, 2, 1, Padding(1, 2, 0, 0), 3, 1, 2},
                      {1, 3, 1, 1, Padding(9, 0, 0, 0), 8, 9, 0}};
  for (const Row& r : rows) {
    const WindowAxis a = window_axis("", 0, r.in, r.window, r.stride, r.dilation, r.padding);
    EXPECT_EQ(a.out, r.out) << r.in << " " << r.window;
    EXPECT_EQ(a.before, r.before) << r.in << " " << r.window;
    EXPECT_EQ(a.after, r.after) << r.in << " " << r.window;
  }
}

TEST(padding, knows_what_follows_from_unknown_sizes) {
  const int64_t symbol = -7;
  EXPECT_EQ(window_axis("", 0, symbol, 3, 1, 1, Pad::same).out, symbol);
  EXPECT_EQ(window_axis("", 0, symbol, 3, 2, 1, Pad::same).out, kUnknown);
  EXPECT_EQ(window_axis("", 0, 9, kUnknown, 2, 1, Pad::same).out, 5);
  EXPECT_EQ(window_axis("", 0, symbol, 1, 1, 1, Pad::valid).out, symbol);
  EXPECT_EQ(window_axis("", 0, symbol, 3, 1, 1, Pad::valid).out, kUnknown);
  EXPECT_EQ(window_axis("", 0, 9, kUnknown, 1, 1, Pad::valid).out, kUnknown);
}

TEST(padding, takes_height_and_width_apart) {
  const Padding padding(1, 2, 3, 4);
  EXPECT_EQ(window_axis("", 0, 4, 2, Size2(1, 2), 1, padding).out, 6);
  EXPECT_EQ(window_axis("", 1, 4, 2, Size2(1, 2), 1, padding).out, 5);
  EXPECT_EQ(padding.str(), "[1, 2, 3, 4]");
  EXPECT_EQ(Padding(Pad::same).str(), "same");
  EXPECT_EQ(Size2(3, 5).str(), "[3, 5]");
}

TEST(padding, sizes_that_overflow_are_refused) {
  EXPECT_THROW(window_axis("", 0, 5, INT64_MAX / 2, 1, 3, Pad::same), SizeOverflow);
}

}  // namespace
}  // namespace martello
