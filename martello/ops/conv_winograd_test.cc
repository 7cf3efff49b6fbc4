#include <gtest/gtest.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/conv_winograd.h>
#include <martello/ops/internal/test_conv.h>

namespace martello {
namespace {

using internal::ConvDirection;
using testing::ConvCase;
using testing::expect_bias_as_if_added_later;
using testing::expect_definition;
using testing::problem_of;

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

TEST(conv_winograd, equals_the_definition_in_all_directions_with_any_number_of_threads) {
  for (const ConvCase& c : cases()) {
    ASSERT_TRUE(internal::is_for_winograd(problem_of(c)));
    for (auto direction : {ConvDirection::forward, ConvDirection::grad_input, ConvDirection::grad_kernel}) {
      const HostTensors y = expect_definition(internal::winograd_kernel, c, direction, {1, 2, 3, 9});
      for (const HostTensor& other : y) EXPECT_TRUE(other.same_bits(y[0])) << c.x.str();
    }
  }
}

TEST(conv_winograd, adds_a_bias_with_the_bits_of_a_later_addition_and_keeps_nan) {
  for (const ConvCase& c : cases()) expect_bias_as_if_added_later(internal::winograd_kernel, c);
}

TEST(conv_winograd, leaves_other_convolutions_alone) {
  const Shape x{8, 16, 16, 64}, kernel{3, 3, 64, 64};
  const auto is_for = [](const ConvCase& c) { return internal::is_for_winograd(problem_of(c)); };
  EXPECT_TRUE(is_for({x, kernel}));
  EXPECT_EQ(internal::is_winograd_faster(problem_of({x, kernel}), ConvDirection::forward),
            cpu::host_isa() != cpu::Isa::v2);
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
