#include <martello/ops/internal/conv_product.h>
#include <martello/ops/internal/test_conv.h>

namespace martello {
namespace {

using internal::ConvDirection;
using testing::ConvCase;
using testing::expect_bias_as_if_added_later;
using testing::expect_definition;
using testing::problem_of;

constexpr ConvDirection kForward = ConvDirection::forward, kGradInput = ConvDirection::grad_input,
                        kGradKernel = ConvDirection::grad_kernel;

// With patches and without, windows that hang over each edge, products for each of the loops of matmul.
std::vector<ConvCase> cases() {
  return {{{2, 7, 7, 40}, {1, 1, 40, 24}},
          {{1, 1, 1, 1}, {1, 1, 1, 1}},
          {{1, 7, 7, 512}, {1, 1, 512, 520}},
          {{3, 9, 6, 17}, {1, 1, 17, 33}, {.stride = 2}},
          {{1, 3, 3, 5}, {1, 1, 5, 3}, {.padding = {1, 0, 2, 1}}},
          {{2, 9, 8, 5}, {1, 1, 5, 3}, {.stride = {4, 3}, .padding = {2, 3, 1, 0}}},
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
    for (auto direction : {kForward, kGradInput, kGradKernel})
      if (internal::is_for_product(problem_of(c), direction))
        expect_definition(internal::product_kernel, c, direction, {1, 2, 3, 9});
}

TEST(conv_product, equals_the_definition_in_bf16) {
  std::vector<ConvCase> all = cases();
  all.push_back({{3, 24, 21, 40}, {1, 1, 40, 24}});
  all.push_back({{3, 24, 21, 40}, {1, 1, 40, 24}, {.stride = {2, 1}}});
  for (const ConvCase& c : all)
    for (auto direction : {kForward, kGradInput, kGradKernel})
      if (internal::is_for_product(problem_of(c, bf16), direction))
        expect_definition(internal::product_kernel, c, direction, {1, 2, 3}, bf16);
}

TEST(conv_product, adds_a_bias_with_the_bits_of_a_later_addition_and_keeps_nan) {
  for (const ConvCase& c : cases()) expect_bias_as_if_added_later(internal::product_kernel, c);
}

TEST(conv_product, leaves_other_convolutions_alone) {
  const auto is_for = [](const ConvCase& c, ConvDirection direction = kForward, DType dtype = f32) {
    return internal::is_for_product(problem_of(c, dtype), direction);
  };
  const Shape x{2, 16, 16, 64}, larger{3, 16, 16, 64}, kernel{1, 1, 64, 64};
  EXPECT_TRUE(is_for({x, kernel}));
  EXPECT_TRUE(is_for({x, kernel}, kGradInput));
  EXPECT_TRUE(is_for({x, kernel, {.stride = 2}}, kGradInput));
  EXPECT_FALSE(is_for({{2, 4, 4, 64}, {3, 3, 64, 64}}, kGradInput));
  EXPECT_FALSE(is_for({larger, kernel}));
  EXPECT_TRUE(is_for({larger, kernel, {.stride = 2}}));
  EXPECT_FALSE(is_for({{2, 9, 9, 64}, {3, 3, 64, 64}}));
  EXPECT_TRUE(is_for({{2, 9, 9, 64}, {3, 3, 64, 64}, {.stride = 2}}));
  EXPECT_FALSE(is_for({x, {1, 1, 32, 64}, {.groups = 2}}));
  EXPECT_FALSE(is_for({{0, 16, 16, 64}, kernel}));
  EXPECT_FALSE(is_for({{2, 64, 16, 16}, kernel, {.data_format = DataFormat::nchw}}));
  for (auto direction : {kForward, kGradInput, kGradKernel}) EXPECT_TRUE(is_for({larger, kernel}, direction, bf16));
  EXPECT_FALSE(is_for({larger, {3, 3, 64, 64}}, kGradKernel, bf16));
  internal::ConvProblem narrow = problem_of({x, kernel}, bf16);
  narrow.is_narrow = true;
  EXPECT_FALSE(internal::is_for_product(narrow, kForward));
}

// Where a training step wins by it; results of larger windows would lose where the kernel's copy is kept.
TEST(conv_product, is_chosen_for_one_tap_and_for_gradients_of_wide_kernels) {
  const auto is_faster = [](const ConvCase& c, ConvDirection direction) {
    return internal::is_product_faster(problem_of(c), direction);
  };
  const ConvCase one_tap{{1, 7, 7, 2048}, {1, 1, 2048, 512}}, wide{{4, 8, 8, 256}, {4, 4, 256, 512}, {.stride = 2}},
      narrow{{4, 7, 7, 80}, {3, 3, 80, 80}};
  EXPECT_TRUE(is_faster(one_tap, kForward));
  EXPECT_TRUE(is_faster(one_tap, kGradKernel));
  EXPECT_FALSE(is_faster(one_tap, kGradInput));
  EXPECT_FALSE(is_faster(wide, kForward));
  EXPECT_TRUE(is_faster(wide, kGradKernel));
  EXPECT_FALSE(is_faster(narrow, kGradKernel));
}

// Where the library multiplies matrices faster than it convolves them.
TEST(conv_product, is_chosen_for_gradients_in_bf16) {
  const auto is_faster = [](const ConvCase& c, ConvDirection direction, onednn::Bf16 library) {
    return internal::is_product_faster(problem_of(c, bf16), direction, library);
  };
  const ConvCase one_tap{{16, 56, 56, 64}, {1, 1, 64, 256}}, wide{{16, 56, 56, 64}, {3, 3, 64, 64}};
  for (auto direction : {kGradInput, kGradKernel}) {
    EXPECT_TRUE(is_faster(one_tap, direction, onednn::Bf16::tiles));
    EXPECT_FALSE(is_faster(one_tap, direction, onednn::Bf16::native));
    EXPECT_FALSE(is_faster(one_tap, direction, onednn::Bf16::emulated));
    EXPECT_FALSE(is_faster(wide, direction, onednn::Bf16::tiles));
  }
  const ConvCase fewer{{16, 28, 28, 512}, {1, 1, 512, 128}};
  EXPECT_TRUE(is_faster(fewer, kGradKernel, onednn::Bf16::native));
  EXPECT_FALSE(is_faster(fewer, kGradInput, onednn::Bf16::native));
  EXPECT_FALSE(is_faster(fewer, kGradKernel, onednn::Bf16::emulated));
  EXPECT_FALSE(is_faster(one_tap, kForward, onednn::Bf16::tiles));
}

}  // namespace
}  // namespace martello
