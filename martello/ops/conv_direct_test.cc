#include <martello/ops/internal/conv_direct.h>
#include <martello/ops/internal/test_conv.h>

namespace martello {
namespace {

using internal::ConvDirection;
using testing::ConvCase;
using testing::expect_bias_as_if_added_later;
using testing::expect_definition;
using testing::problem_of;

// Every block of windows, whole and cut vectors of channels, windows that hang over each edge, several strips.
std::vector<ConvCase> cases() {
  std::vector<ConvCase> list = {{{2, 28, 28, 1}, {3, 3, 1, 32}},
                                {{1, 1, 1, 1}, {1, 1, 1, 1}},
                                {{3, 32, 32, 3}, {3, 3, 3, 64}},
                                {{2, 9, 6, 2}, {3, 5, 2, 33}, {.stride = {2, 3}}},
                                {{1, 8, 8, 1}, {5, 5, 1, 17}, {.padding = Pad::valid}},
                                {{1, 9, 8, 2}, {3, 3, 2, 3}, {.dilation = {2, 3}}},
                                {{1, 4, 5, 2}, {3, 3, 2, 3}, {.padding = {1, 0, 0, 4}}},
                                {{1, 3, 3, 2}, {3, 3, 2, 3}, {.padding = {5, 2, 0, 3}}},
                                {{1, 3, 3, 2}, {3, 3, 2, 48}, {.padding = {2, 2, 6, 6}}},
                                {{2, 16, 70, 4}, {2, 3, 4, 96}}};
  for (int64_t width = 1; width < 20; ++width) list.push_back({{1, 3, width, 3}, {1, 2, 3, 20}});
  return list;
}

TEST(conv_direct, equals_the_definition_with_any_number_of_threads) {
  for (const ConvCase& c : cases()) {
    ASSERT_TRUE(internal::is_for_direct(problem_of(c), ConvDirection::forward)) << c.x.str();
    const HostTensors y = expect_definition(internal::direct_kernel, c, ConvDirection::forward, {1, 2, 3, 9});
    for (const HostTensor& other : y) EXPECT_TRUE(other.same_bits(y[0])) << c.x.str();
  }
}

TEST(conv_direct, adds_a_bias_with_the_bits_of_a_later_addition_and_keeps_nan) {
  for (const ConvCase& c : cases()) expect_bias_as_if_added_later(internal::direct_kernel, c);
}

TEST(conv_direct, leaves_other_convolutions_alone) {
  const auto is_for = [](const ConvCase& c, ConvDirection direction = ConvDirection::forward) {
    return internal::is_for_direct(problem_of(c), direction);
  };
  const Shape x{2, 16, 16, 3}, kernel{3, 3, 3, 64};
  EXPECT_TRUE(is_for({x, kernel}));
  EXPECT_FALSE(is_for({x, kernel}, ConvDirection::grad_input));
  EXPECT_FALSE(is_for({x, kernel}, ConvDirection::grad_kernel));
  EXPECT_FALSE(is_for({x, {7, 7, 3, 64}}));
  EXPECT_FALSE(is_for({x, {3, 3, 1, 6}, {.groups = 3}}));
  EXPECT_FALSE(is_for({{0, 16, 16, 3}, kernel}));
  EXPECT_FALSE(is_for({{2, 3, 16, 16}, kernel, {.data_format = DataFormat::nchw}}));
  EXPECT_FALSE(internal::is_for_direct(problem_of({x, kernel}, bf16), ConvDirection::forward));
}

TEST(conv_direct, is_chosen_for_short_rows_of_few_channels) {
  const auto is_faster = [](const Shape& x, const Shape& kernel) {
    return internal::is_direct_faster(problem_of({x, kernel}), ConvDirection::forward);
  };
  EXPECT_TRUE(is_faster({128, 28, 28, 1}, {3, 3, 1, 32}));
  EXPECT_TRUE(is_faster({128, 28, 28, 1}, {5, 5, 1, 6}));
  EXPECT_TRUE(is_faster({128, 32, 32, 3}, {3, 3, 3, 16}));
  EXPECT_FALSE(is_faster({128, 32, 32, 3}, {3, 3, 3, 28}));
  EXPECT_FALSE(is_faster({4, 224, 224, 3}, {3, 3, 3, 64}));
  EXPECT_FALSE(is_faster({32, 28, 28, 8}, {1, 1, 8, 64}));
}

}  // namespace
}  // namespace martello
