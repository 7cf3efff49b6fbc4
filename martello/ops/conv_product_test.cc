#include <martello/ops/internal/conv_product.h>
#include <martello/ops/internal/test_conv.h>

namespace martello {
namespace {

using internal::ConvDirection;
using testing::ConvCase;
using testing::expect_bias_as_if_added_later;
using testing::expect_definition;
using testing::problem_of;

// With patches and without, windows that hang over each edge, products for each of the loops of matmul.
std::vector<ConvCase> cases() {
  return {{{2, 7, 7, 40}, {1, 1, 40, 24}},
          {{1, 1, 1, 1}, {1, 1, 1, 1}},
          {{1, 7, 7, 512}, {1, 1, 512, 520}},
          {{3, 9, 6, 17}, {1, 1, 17, 33}, {.stride = 2}},
          {{1, 3, 3, 5}, {1, 1, 5, 3}, {.padding = {1, 0, 2, 1}}},
          {{3, 9, 6, 17}, {3, 3, 17, 33}},
          {{2, 5, 11, 3}, {5, 4, 3, 70}, {.stride = {2, 3}}},
          {{2, 8, 8, 16}, {3, 2, 16, 16}, {.padding = Pad::valid}},
          {{1, 9, 8, 2}, {3, 3, 2, 3}, {.dilation = {2, 3}}},
          {{1, 4, 5, 2}, {3, 3, 2, 3}, {.padding = {1, 0, 0, 4}}},
          {{1, 3, 3, 2}, {3, 3, 2, 3}, {.padding = {5, 2, 0, 3}}},
          {{1, 4, 4, 160}, {4, 4, 160, 256}, {.stride = 2}}};
}

TEST(conv_product, equals_the_definition_with_any_number_of_threads) {
  for (const ConvCase& c : cases())
    for (auto direction : {ConvDirection::forward, ConvDirection::grad_kernel})
      expect_definition(internal::product_kernel, c, direction, {1, 2, 3, 9});
}

TEST(conv_product, adds_a_bias_with_the_bits_of_a_later_addition_and_keeps_nan) {
  for (const ConvCase& c : cases()) expect_bias_as_if_added_later(internal::product_kernel, c);
}

TEST(conv_product, leaves_other_convolutions_alone) {
  const auto is_for = [](const ConvCase& c, ConvDirection direction = ConvDirection::forward) {
    return internal::is_for_product(problem_of(c), direction);
  };
  const Shape x{2, 16, 16, 64}, kernel{1, 1, 64, 64};
  EXPECT_TRUE(is_for({x, kernel}));
  EXPECT_FALSE(is_for({x, kernel}, ConvDirection::grad_input));
  EXPECT_FALSE(is_for({{3, 16, 16, 64}, kernel}));
  EXPECT_TRUE(is_for({{3, 16, 16, 64}, kernel, {.stride = 2}}));
  EXPECT_FALSE(is_for({{2, 9, 9, 64}, {3, 3, 64, 64}}));
  EXPECT_TRUE(is_for({{2, 9, 9, 64}, {3, 3, 64, 64}, {.stride = 2}}));
  EXPECT_FALSE(is_for({x, {1, 1, 32, 64}, {.groups = 2}}));
  EXPECT_FALSE(is_for({{0, 16, 16, 64}, kernel}));
  EXPECT_FALSE(is_for({{2, 64, 16, 16}, kernel, {.data_format = DataFormat::nchw}}));
  EXPECT_FALSE(internal::is_for_product(problem_of({x, kernel}, bf16), ConvDirection::forward));
}

// Where a training step wins by it; results of larger windows would lose where the kernel's copy is kept.
TEST(conv_product, is_chosen_for_one_tap_and_for_gradients_of_wide_kernels) {
  const auto is_faster = [](const ConvCase& c, ConvDirection direction) {
    return internal::is_product_faster(problem_of(c), direction);
  };
  const ConvCase one_tap{{1, 7, 7, 2048}, {1, 1, 2048, 512}}, wide{{4, 8, 8, 256}, {4, 4, 256, 512}, {.stride = 2}},
      narrow{{4, 7, 7, 80}, {3, 3, 80, 80}};
  EXPECT_TRUE(is_faster(one_tap, ConvDirection::forward));
  EXPECT_TRUE(is_faster(one_tap, ConvDirection::grad_kernel));
  EXPECT_FALSE(is_faster(wide, ConvDirection::forward));
  EXPECT_TRUE(is_faster(wide, ConvDirection::grad_kernel));
  EXPECT_FALSE(is_faster(narrow, ConvDirection::grad_kernel));
}

}  // namespace
}  // namespace martello
