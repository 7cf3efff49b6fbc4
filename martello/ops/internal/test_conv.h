#pragma once
#include <gtest/gtest.h>
#include <martello/ops/internal/conv_case.h>
#include <martello/testing/op_test.h>
#include <martello/testing/run_kernel.h>

#include <algorithm>
#include <cmath>

// For tests of one of the ways to run a convolution.
namespace martello::testing {

using ConvWay = Kernel (*)(const KernelPlan&, const internal::ConvProblem&, const internal::ConvTask&);

// On two or three inputs, twice, with scratch full of NaN.
inline HostTensor convolve_by(ConvWay way, const ConvCase& c, const HostTensors& in, const Shape& result,
                              const internal::ConvTask& task, int threads) {
  std::vector<RunTensor> tensors;
  for (const HostTensor& t : in) tensors.push_back({const_cast<std::byte*>(t.raw()), t.num_elements(), t.shape()[0]});
  HostTensor y(result, f32);
  RunTensor out{y.mutable_raw(), y.num_elements(), result[0]};
  KernelPlan plan{.op = {"test", "conv2d"}, .in = {}, .out = {}};
  plan.threads = threads;
  const Kernel kernel = way(plan, problem_of(c, in[0].dtype()), task);
  HostTensor scratch = HostTensor::full({kernel.scratch_bytes() / 4}, f32, NAN);
  RunParams params;
  const KernelRun run{tensors.data(), &out, scratch.mutable_raw(), &params, threads};
  kernel.bind(run)(run);
  kernel.bind(run)(run);
  return y;
}

inline void expect_near(const HostTensor& y, const HostTensor& expected, const std::string& label) {
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

// A node for one direction of it, with random inputs of this dtype; bf16 gives f32.
struct ConvNode {
  const OpDef* op;
  HostTensors in;
  Shape result;
  internal::ConvOpAttrs attrs;

  ConvNode(const ConvCase& c, internal::ConvDirection direction, DType dtype = f32) {
    const bool gives_y = direction == internal::ConvDirection::forward,
               gives_x = direction == internal::ConvDirection::grad_input;
    const HostTensor x = randn(c.x, 1).cast(dtype), kernel = randn(c.kernel, 2).cast(dtype);
    const HostTensor dy = randn(problem_of(c).y_shape(), 3).cast(dtype);
    op = gives_y ? &op_conv2d : gives_x ? &op_conv2d_grad_input : &op_conv2d_grad_kernel;
    in = {gives_x ? dy : x, gives_y || gives_x ? kernel : dy};
    result = gives_y ? dy.shape() : gives_x ? c.x : c.kernel;
    attrs = {.conv = c.conv, .shape = gives_y ? Shape() : result, .widen = dtype == bf16};
  }

  // By loops of f64.
  HostTensor definition() const {
    internal::ConvOpAttrs exact = attrs;
    exact.widen = false;
    return run_kernel(*op, {in[0].cast(f64), in[1].cast(f64)}, Attrs(exact))[0];
  }
};

// Against the definition, with each of these numbers of threads; returns what the way gave.
inline HostTensors expect_definition(ConvWay way, const ConvCase& c, internal::ConvDirection direction,
                                     const std::vector<int>& threads, DType dtype = f32) {
  const ConvNode node(c, direction, dtype);
  const HostTensor expected = node.definition();
  HostTensors results;
  for (int count : threads) {
    results.push_back(convolve_by(way, c, node.in, node.result, {.direction = direction}, count));
    expect_near(results.back(), expected, str(node.op->name, " ", dtype, c.x, c.kernel, " ", count, " threads"));
  }
  return results;
}

// What fusion promises of conv2d with a bias and ReLU.
inline void expect_bias_as_if_added_later(ConvWay way, const ConvCase& c) {
  const Shape shape = problem_of(c).y_shape();
  HostTensor x = randn(c.x, 1).cast(f32);
  const HostTensor kernel = randn(c.kernel, 2).cast(f32), bias = randn(Shape(c.kernel[3]), 3).cast(f32);
  HostTensor expected = convolve_by(way, c, {x, kernel}, shape, {}, 2);
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const float v = static_cast<float>(expected.at(i)) + static_cast<float>(bias.at(i % c.kernel[3]));
    expected.set(i, v <= 0 ? 0 : v);
  }
  const auto run = [&] { return convolve_by(way, c, {x, kernel, bias}, shape, {.has_bias = true, .relu = true}, 2); };
  EXPECT_TRUE(run().same_bits(expected)) << c.x.str();
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, NAN);
  const HostTensor y = run();
  int64_t count = 0;
  for (int64_t i = 0; i < y.num_elements(); ++i) count += std::isnan(y.at(i));
  EXPECT_GT(count, 0) << c.x.str();
}

}  // namespace martello::testing
