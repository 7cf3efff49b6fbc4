#include <martello/models/norms.h>

#include <martello/graph/core_ops.h>
#include <martello/ops/initializers.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

// Elements of one index of `group_of` are normalized together.
HostTensor naive(const HostTensor& x, const std::function<int64_t(int64_t)>& group_of, double epsilon) {
  std::vector<double> sum(64), squares(64), count(64);
  const auto at = [&](int64_t i) { return static_cast<size_t>(group_of(i)); };
  for (int64_t i = 0; i < x.num_elements(); ++i) sum[at(i)] += x.at(i), ++count[at(i)];
  for (int64_t i = 0; i < x.num_elements(); ++i) squares[at(i)] += std::pow(x.at(i) - sum[at(i)] / count[at(i)], 2);
  HostTensor y(x.shape(), f64);
  for (int64_t i = 0; i < x.num_elements(); ++i)
    y.set(i, (x.at(i) - sum[at(i)] / count[at(i)]) / std::sqrt(squares[at(i)] / count[at(i)] + epsilon));
  return y;
}

void expect_near(const HostTensor& actual, const HostTensor& expected) {
  ASSERT_EQ(actual.shape(), expected.shape());
  for (int64_t i = 0; i < actual.num_elements(); ++i) ASSERT_NEAR(actual.at(i), expected.at(i), 1e-9) << i;
}

void expect_affine(const LayerOutput& y, int64_t channels) {
  EXPECT_EQ(y.name(), "n/output");
  EXPECT_EQ(y.variables()["beta"].name(), "n/beta");
  EXPECT_EQ(y.variables()["gamma"].name(), "n/gamma");
  EXPECT_EQ(y.variables()["gamma"].shape(), Shape(channels));
}

TEST(LayerNorm, covers_all_but_the_batch_of_matrices_and_images) {
  for (const Shape& shape : {Shape(2, 6), Shape(2, 3, 2, 6)}) {
    GraphScope g;
    const HostTensor x = randn(shape);
    const auto y = layer_norm("n", constant(x), {.epsilon = 1e-3});
    expect_affine(y, 6);
    const int64_t sample = x.num_elements() / 2;
    expect_near(Session().eval(y), naive(
                                       x, [=](int64_t i) { return i / sample; }, 1e-3));
  }
}

TEST(LayerNorm, covers_the_last_dimension_of_sequences) {
  GraphScope g;
  const HostTensor x = randn({2, 3, 6});
  const auto y = layer_norm("n", constant(x));
  expect_affine(y, 6);
  expect_near(Session().eval(y), naive(
                                     x, [](int64_t i) { return i / 6; }, 1e-5));
}

TEST(InstanceNorm, covers_each_channel_of_each_image) {
  GraphScope g;
  const HostTensor x = randn({2, 3, 2, 4});
  const auto y = instance_norm("n", constant(x));
  expect_affine(y, 4);
  expect_near(Session().eval(y), naive(
                                     x, [](int64_t i) { return i / 24 * 4 + i % 4; }, 1e-5));
}

TEST(GroupNorm, covers_groups_of_channels) {
  {
    GraphScope g;
    const HostTensor x = randn({2, 3, 2, 4});
    const auto y = group_norm("n", constant(x), {.groups = 2});
    expect_affine(y, 4);
    expect_near(Session().eval(y), naive(
                                       x, [](int64_t i) { return i / 24 * 2 + i % 4 / 2; }, 1e-5));
  }
  GraphScope g;
  const HostTensor x = randn({2, 4, 3, 2});
  const auto y = group_norm("n", constant(x), {.groups = 2, .data_format = DataFormat::nchw});
  expect_near(Session().eval(y), naive(
                                     x, [](int64_t i) { return i / 12; }, 1e-5));
}

TEST(Norms, scale_and_shift_each_channel) {
  GraphScope g;
  const HostTensor x = randn({2, 3, 2, 4});
  const auto plain = group_norm("plain", constant(x), {.groups = 1, .center = false, .scale = false});
  EXPECT_EQ(plain.variables().size(), 0u);
  const auto y = layer_norm("n", constant(x), {.gamma_init = constant_init(HostTensor::of<double>({1, 2, 3, 4}))});
  Session s;
  s.set("n/beta", HostTensor::of<double>({0, 1, 0, 2}));
  const HostTensors values = s.run({plain, y});
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const double shift[] = {0, 1, 0, 2};
    ASSERT_NEAR(values[1].at(i), values[0].at(i) * static_cast<double>(i % 4 + 1) + shift[i % 4], 1e-9);
  }
}

OP_REFUSES(norm_layers, groups_that_do_not_divide,
           [] {
             group_norm("n", placeholder({2, 3, 2, 6}, f32, "x"), {.groups = 4});
           },
           {"[group_norm 'n'] groups is 4", "6 channels"});
OP_REFUSES(norm_layers, a_vector, [] { layer_norm("n", placeholder({7}, f32, "x")); },
           {"[layer_norm 'n'] x [7] has 1 dimensions"});
OP_REFUSES(norm_layers, instance_norm_of_a_matrix,
           [] {
             instance_norm("n", placeholder({2, 3}, f32, "x"));
           },
           {"[instance_norm 'n'] x [2, 3]", "takes 4"});
OP_REFUSES(norm_layers, no_epsilon,
           [] {
             layer_norm("n", placeholder({2, 3}, f32, "x"), {.epsilon = 0});
           },
           {"[layer_norm 'n'] epsilon is 0"});

}  // namespace
}  // namespace martello::testing
