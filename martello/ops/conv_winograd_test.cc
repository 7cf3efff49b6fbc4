#include <gtest/gtest.h>
#include <martello/ops/internal/conv_case.h>
#include <martello/ops/internal/conv_winograd.h>
#include <martello/testing/op_test.h>
#include <martello/testing/run_kernel.h>

#include <algorithm>
#include <cmath>

namespace martello {
namespace {

using internal::ConvDirection;
using internal::ConvOpAttrs;
using internal::ConvProblem;
using testing::ConvCase;
using testing::problem_of;
using testing::randn;
using testing::run_kernel;

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

// Runs the kernel on two or three inputs with scratch full of NaN.
HostTensor winograd(const ConvCase& c, const HostTensors& in, const Shape& result, internal::WinogradOptions options,
                    int threads) {
  std::vector<RunTensor> tensors;
  for (const HostTensor& t : in) tensors.push_back({const_cast<std::byte*>(t.raw()), t.num_elements(), t.shape()[0]});
  HostTensor y(result, f32);
  RunTensor out{y.mutable_raw(), y.num_elements(), result[0]};
  KernelPlan plan{.op = {"test", "conv2d"}, .in = {}, .out = {}};
  plan.threads = threads;
  const Kernel kernel = internal::winograd_kernel(plan, problem_of(c), options);
  HostTensor scratch = HostTensor::full({kernel.scratch_bytes() / 4}, f32, NAN);
  RunParams params;
  const KernelRun run{tensors.data(), &out, scratch.mutable_raw(), &params, threads};
  kernel.bind(run)(run);
  kernel.bind(run)(run);
  return y;
}

void expect_near(const HostTensor& y, const HostTensor& expected, const std::string& label) {
  ASSERT_EQ(y.shape(), expected.shape());
  double squares = 0, worst = 0;
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    squares += expected.at(i) * expected.at(i);
    const double error = std::abs(y.at(i) - expected.at(i));
    ASSERT_TRUE(std::isfinite(error)) << label;
    worst = std::max(worst, error);
  }
  // The longest sums, over 750 tiles, have as many roundings.
  EXPECT_LE(worst, 5e-5 * std::sqrt(squares / static_cast<double>(y.num_elements())) + 1e-6) << label;
}

void check(const ConvCase& c, const OpDef& op, ConvDirection direction, const HostTensors& in, const Shape& result) {
  ConvOpAttrs attrs{.conv = c.conv, .shape = direction == ConvDirection::forward ? Shape() : result};
  HostTensors wide;
  for (const HostTensor& t : in) wide.push_back(t.cast(f64));
  const HostTensor expected = run_kernel(op, wide, Attrs(attrs))[0];
  const HostTensor y = winograd(c, in, result, {.direction = direction}, 1);
  const std::string label = str(op.name, " ", c.x, c.kernel);
  expect_near(y, expected, label);
  for (int threads : {2, 3, 9})
    EXPECT_TRUE(winograd(c, in, result, {.direction = direction}, threads).same_bits(y)) << label;
}

TEST(conv_winograd, equals_the_definition_in_all_directions_with_any_number_of_threads) {
  for (const ConvCase& c : cases()) {
    const ConvProblem p = problem_of(c);
    ASSERT_TRUE(internal::is_for_winograd(p));
    const HostTensor x = randn(c.x, 1).cast(f32), kernel = randn(c.kernel, 2).cast(f32);
    const HostTensor dy = randn(p.y_shape(), 3).cast(f32);
    check(c, op_conv2d, ConvDirection::forward, {x, kernel}, p.y_shape());
    check(c, op_conv2d_grad_input, ConvDirection::grad_input, {dy, kernel}, c.x);
    check(c, op_conv2d_grad_kernel, ConvDirection::grad_kernel, {x, dy}, c.kernel);
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
    const internal::WinogradOptions options{.has_bias = true, .relu = true};
    EXPECT_TRUE(winograd(c, {x, kernel, bias}, shape, options, 2).same_bits(expected)) << c.x.str();
    for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, NAN);
    const HostTensor y = winograd(c, {x, kernel, bias}, shape, options, 1);
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
