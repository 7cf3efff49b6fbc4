#include <gtest/gtest.h>
#include <martello/ops/internal/conv_winograd.h>
#include <martello/ops/internal/test_conv.h>

#include <cmath>

namespace martello {
namespace {

using internal::ConvDirection;
using internal::ConvTask;
using testing::ConvCase;
using testing::convolve_by;
using testing::expect_definition;
using testing::problem_of;
using testing::randn;

// Whole and cut tiles and vectors, kernels whose points fit a cache and others, more tiles than one block takes.
std::vector<ConvCase> cases() {
  return {{{2, 14, 14, 32}, {3, 3, 32, 32}},
          {{1, 1, 1, 1}, {3, 3, 1, 1}},
          {{3, 9, 6, 17}, {3, 3, 17, 33}},
          {{2, 5, 11, 3}, {3, 3, 3, 70}},
          {{2, 8, 8, 16}, {3, 3, 16, 16}, {.padding = Pad::valid}},
          {{1, 4, 5, 2}, {3, 3, 2, 3}, {.padding = {1, 0, 0, 4}}},
          {{1, 3, 3, 2}, {3, 3, 2, 3}, {.padding = {5, 2, 0, 3}}},
          {{1, 13, 13, 96}, {3, 3, 96, 80}},
          {{20, 16, 16, 8}, {3, 3, 8, 8}},
          {{13, 16, 17, 20}, {3, 3, 20, 19}},
          {{750, 3, 3, 33}, {3, 3, 33, 129}}};
}

HostTensor winograd(const ConvCase& c, const HostTensors& in, const Shape& result, const ConvTask& task, int threads) {
  return convolve_by(internal::winograd_kernel, c, in, result, task, threads);
}

TEST(conv_winograd, equals_the_definition_in_all_directions_with_any_number_of_threads) {
  for (const ConvCase& c : cases()) {
    ASSERT_TRUE(internal::is_for_winograd(problem_of(c)));
    for (auto direction : {ConvDirection::forward, ConvDirection::grad_input, ConvDirection::grad_kernel}) {
      const HostTensor y = expect_definition(internal::winograd_kernel, c, direction, 1);
      for (int threads : {2, 3, 9})
        EXPECT_TRUE(expect_definition(internal::winograd_kernel, c, direction, threads).same_bits(y)) << c.x.str();
    }
  }
}

// What fusion promises of conv2d with a bias.
TEST(conv_winograd, adds_a_bias_with_the_bits_of_a_later_addition_and_keeps_nan) {
  for (const ConvCase& c : cases()) {
    const Shape shape = problem_of(c).y_shape();
    HostTensor x = randn(c.x, 1).cast(f32);
    const HostTensor kernel = randn(c.kernel, 2).cast(f32), bias = randn(Shape(c.kernel[3]), 3).cast(f32);
    HostTensor expected = winograd(c, {x, kernel}, shape, {}, 1);
    for (int64_t i = 0; i < expected.num_elements(); ++i) {
      const float v = static_cast<float>(expected.at(i)) + static_cast<float>(bias.at(i % c.kernel[3]));
      expected.set(i, v <= 0 ? 0 : v);
    }
    const ConvTask task{.has_bias = true, .relu = true};
    EXPECT_TRUE(winograd(c, {x, kernel, bias}, shape, task, 2).same_bits(expected)) << c.x.str();
    for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, NAN);
    const HostTensor y = winograd(c, {x, kernel, bias}, shape, task, 1);
    EXPECT_TRUE(std::isnan(y.at(y.num_elements() / 2))) << c.x.str();
  }
}

TEST(conv_winograd, leaves_other_convolutions_alone) {
  const Shape x{8, 16, 16, 64}, kernel{3, 3, 64, 64};
  const auto is_for = [](const ConvCase& c) { return internal::is_for_winograd(problem_of(c)); };
  EXPECT_TRUE(is_for({x, kernel}));
  EXPECT_TRUE(internal::is_winograd_faster(problem_of({x, kernel}), ConvDirection::forward));
  EXPECT_FALSE(is_for({x, {3, 3, 64, 64}, {.stride = 2}}));
  EXPECT_FALSE(is_for({x, {3, 3, 64, 64}, {.dilation = {1, 2}}}));
  EXPECT_FALSE(is_for({x, {3, 3, 32, 64}, {.groups = 2}}));
  EXPECT_FALSE(is_for({x, {1, 3, 64, 64}}));
  EXPECT_FALSE(is_for({x, {5, 5, 64, 64}}));
  EXPECT_FALSE(is_for({{0, 16, 16, 64}, kernel}));
  EXPECT_FALSE(is_for({{8, 64, 16, 16}, kernel, {.data_format = DataFormat::nchw}}));
  EXPECT_FALSE(internal::is_winograd_faster(problem_of({{8, 5, 5, 64}, kernel}), ConvDirection::forward));
  EXPECT_FALSE(internal::is_winograd_faster(problem_of({{1, 16, 16, 64}, kernel}), ConvDirection::forward));
}

}  // namespace
}  // namespace martello
