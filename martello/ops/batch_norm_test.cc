#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/internal/naive_norm.h>
#include <martello/ops/internal/test_images.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <limits>

namespace martello::testing {
namespace {

constexpr DataFormat kNchw = DataFormat::nchw;

int64_t channels_of(const Shape& x, const BatchNormAttrs& a) { return x[channel_axis(a.data_format, x.rank())]; }

HostTensors naive_training(const HostTensors& in, const BatchNormAttrs& a) {
  const int axis = channel_axis(a.data_format, in[0].shape().rank());
  const auto channel = [=](const Index& i) { return i[static_cast<size_t>(axis)]; };
  const int64_t channels = channels_of(in[0].shape(), a);
  const NaiveMoments m = naive_moments(in[0], channels, channel);
  HostTensor y = naive_normalize(in[0], m, channel, in[1], in[2], axis, a.epsilon);
  for (int64_t i = 0; a.relu && i < y.num_elements(); ++i)
    y.set(i, std::isnan(y.at(i)) ? y.at(i) : std::max(y.at(i), 0.0));
  return {y, HostTensor::from<double>(m.mean, channels), HostTensor::from<double>(m.variance, channels)};
}

HostTensors naive_inference(const HostTensors& in, const BatchNormAttrs& a) {
  const int axis = channel_axis(a.data_format, in[0].shape().rank());
  const auto channel = [=](const Index& i) { return i[static_cast<size_t>(axis)]; };
  NaiveMoments m;
  for (int64_t c = 0; c < in[3].num_elements(); ++c) m.mean.push_back(in[3].at(c)), m.variance.push_back(in[4].at(c));
  HostTensor y = naive_normalize(in[0], m, channel, in[1], in[2], axis, a.epsilon);
  for (int64_t i = 0; a.relu && i < y.num_elements(); ++i) y.set(i, std::max(y.at(i), 0.0));
  return {y};
}

HostTensors with_numbers(HostTensor x, const BatchNormAttrs& a, bool has_moments) {
  const int64_t c = channels_of(x.shape(), a);
  HostTensors in = {std::move(x), uniform({c}, 0.5, 2, 2), randn({c}, 3)};
  if (has_moments) in.push_back(randn({c}, 4)), in.push_back(uniform({c}, 0.2, 2, 5));
  return in;
}

OpCase training(std::string label, HostTensor x, BatchNormAttrs a = {}) {
  return {.label = std::move(label),
          .inputs = with_numbers(std::move(x), a, false),
          .build =
              [=](TensorList in) {
                const BatchNormResult r = batch_norm_training(in[0], in[1], in[2], a);
                return TensorList{r.y, r.mean, r.variance};
              },
          .reference = [=](const HostTensors& in) { return naive_training(in, a); }};
}
OpCase inference(std::string label, HostTensor x, BatchNormAttrs a = {}) {
  return {.label = std::move(label),
          .inputs = with_numbers(std::move(x), a, true),
          .build = [=](TensorList in) { return batch_norm_inference(in[0], in[1], in[2], in[3], in[4], a); },
          .reference = [=](const HostTensors& in) { return naive_inference(in, a); }};
}

HostTensors naive_training_grad(const HostTensors& in, const BatchNormAttrs& a) {
  const int axis = channel_axis(a.data_format, in[0].shape().rank());
  const auto channel = [=](const Index& i) { return i[static_cast<size_t>(axis)]; };
  const HostTensor y = naive_training({in[0], in[1], in[2]}, a)[0];
  const HostTensor dy =
      tabulate(y.shape(), f64, [&](const Index& i) { return a.relu && at(y, i) <= 0 ? 0 : at(in[3], i); });
  const NaiveMoments m = naive_moments(in[0], channels_of(in[0].shape(), a), channel);
  HostTensors d = naive_normalize_grad(in[0], m, channel, in[1], dy, axis, a.epsilon);
  return d;
}

OpCase training_grad(std::string label, HostTensor x, BatchNormAttrs a = {}) {
  HostTensors in = with_numbers(std::move(x), a, false);
  in.push_back(randn(in[0].shape(), 9));
  return {.label = std::move(label),
          .inputs = in,
          .build =
              [=](TensorList t) {
                const BatchNormResult r = batch_norm_training(t[0], t[1], t[2], a);
                return batch_norm_training_grad(t[0], t[1], t[2], r.mean, r.variance, t[3], a);
              },
          .reference = [=](const HostTensors& t) { return naive_training_grad(t, a); },
          .tolerance = 1e-4};
}

// Sums of what goes through, and finite differences for the rest.
OpCase inference_grad(std::string label, HostTensor x, BatchNormAttrs a = {}) {
  HostTensors in = with_numbers(std::move(x), a, true);
  in.push_back(randn(in[0].shape(), 9));
  return {
      .label = std::move(label),
      .inputs = in,
      .build =
          [=](TensorList t) { return TensorList{batch_norm_inference_grad(t[0], t[1], t[2], t[3], t[4], t[5], a)[0]}; },
      .reference =
          [=](const HostTensors& t) {
            const HostTensor y = naive_inference(t, a)[0];
            return HostTensors{tabulate(y.shape(), f64, [&](const Index& i) {
              const int64_t c = i[static_cast<size_t>(channel_axis(a.data_format, y.shape().rank()))];
              const double slope = t[1].at(c) / std::sqrt(t[4].at(c) + a.epsilon);
              return a.relu && at(y, i) <= 0 ? 0 : slope * at(t[5], i);
            })};
          },
      .tolerance = 1e-5};
}

// Statistics of nothing are NaN, and so are the differences of a gradient.
OpCase without_nan(OpCase c) { return c.inputs[0].num_elements() > 0 ? c : value_only(c); }
HostTensor far_from_zero(Shape shape) {
  HostTensor x = randn(std::move(shape));
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, static_cast<double>(static_cast<float>(1000 + x.at(i))));
  return x;
}

}  // namespace

OP_TEST(batch_norm_training, twice(training("few", randn({5, 3}))), training("images", randn({2, 3, 4, 5})),
        training("channels first", randn({2, 3, 4, 5}), {.data_format = kNchw}),
        training("relu", randn({3, 2, 2, 4}), {.relu = true}),
        training("relu, channels first", randn({3, 4, 2, 2}), {.data_format = kNchw, .relu = true}),
        twice(training("twice, channels first", randn({2, 2, 2, 3}), {.data_format = kNchw})),
        training("one channel", randn({37, 1})), training("one row", randn({1, 5})),
        value_only(training("vectors of channels", randn({4, 9, 7, 16}))),
        value_only(training("an odd number", randn({4, 19, 17, 33}))),
        value_only(training("many rows", randn({70000, 3}))), value_only(training("wide rows", randn({21, 2500}))),
        value_only(training("long rows", randn({2, 2, 70, 71}), {.data_format = kNchw})),
        value_only(training("no channels", randn({4, 0}))), value_only(training("nothing", randn({0, 3}))),
        value_only(training("no pixels", randn({2, 0, 3, 2}))));

OP_TEST(batch_norm_training_grad, training_grad("few", randn({5, 3})),
        training_grad("relu", randn({2, 3, 2, 3}), {.relu = true}),
        training_grad("channels first", randn({2, 3, 2, 2}), {.data_format = kNchw, .relu = true}),
        value_only(training_grad("many rows", randn({30000, 5}))), value_only(training_grad("wide", randn({21, 2500}))),
        value_only(training_grad("long rows", randn({2, 2, 70, 71}), {.data_format = kNchw})),
        value_only(training_grad("an odd number", randn({4, 9, 7, 33}), {.relu = true})));

OP_TEST(batch_norm_inference, twice(inference("few", randn({5, 3}))), inference("images", randn({2, 3, 4, 5})),
        inference("channels first", randn({2, 3, 4, 5}), {.data_format = kNchw}),
        inference("relu", randn({2, 3, 2, 4}), {.relu = true}), inference("nothing", randn({0, 3})),
        value_only(inference("an odd number", randn({9, 19, 17, 33}))));

OP_TEST(batch_norm_inference_grad, inference_grad("few", randn({5, 3})),
        inference_grad("relu", randn({2, 3, 2, 3}), {.relu = true}),
        inference_grad("channels first", randn({2, 3, 2, 2}), {.data_format = kNchw}));

namespace {

const std::vector<BatchNormAttrs> kPlainAndRelu = {{}, {.relu = true}};
const OpTestRows training_rows("batch_norm_training", __FILE__, __LINE__,
                               image_rows(kPlainAndRelu, [](std::string label, HostTensor x, BatchNormAttrs a) {
                                 return without_nan(training(std::move(label), std::move(x), a));
                               }));
const OpTestRows training_grad_rows("batch_norm_training_grad", __FILE__, __LINE__,
                                    image_rows(kPlainAndRelu, [](std::string label, HostTensor x, BatchNormAttrs a) {
                                      return without_nan(training_grad(std::move(label), std::move(x), a));
                                    }));
const OpTestRows inference_rows("batch_norm_inference", __FILE__, __LINE__, image_rows(kPlainAndRelu, inference));
const OpTestRows inference_grad_rows("batch_norm_inference_grad", __FILE__, __LINE__,
                                     image_rows(kPlainAndRelu, inference_grad));

}  // namespace

OP_REFUSES(batch_norm_training, rank_three,
           [] {
             batch_norm_training(placeholder({2, 3, 4}, f32, "x"), placeholder(4, f32, "g"), placeholder(4, f32, "b"));
           },
           {"batch_norm_training", "[2, 3, 4]", "rank 4"})
OP_REFUSES(batch_norm_training, another_number_of_channels,
           [] {
             batch_norm_training(placeholder({2, 3}, f32, "x"), placeholder(4, f32, "g"), placeholder(3, f32, "b"));
           },
           {"batch_norm_training", "gamma [4]", "3 channels"})
OP_REFUSES(batch_norm_training, a_negative_epsilon,
           [] {
             batch_norm_training(placeholder({2, 3}, f32, "x"), placeholder(3, f32, "g"), placeholder(3, f32, "b"),
                                 {.epsilon = -1});
           },
           {"batch_norm_training", "epsilon is -1"})
OP_REFUSES(batch_norm_training, integers,
           [] {
             batch_norm_training(placeholder({2, 3}, i32, "x"), placeholder(3, i32, "g"), placeholder(3, i32, "b"));
           },
           {"batch_norm_training", "i32", "f32"})
OP_REFUSES(batch_norm_inference, mixed_dtypes,
           [] {
             const Tensor v = placeholder({3}, f32, "v");
             batch_norm_inference(placeholder({2, 3}, f32, "x"), v, v, v, placeholder({3}, f64, "variance"));
           },
           {"batch_norm_inference", "f64", "f32"})

namespace {

HostTensors run_training(const HostTensor& x, BatchNormAttrs a = {}) {
  GraphScope scope;
  const int64_t c = x.shape()[-1];
  const BatchNormResult r =
      batch_norm_training(placeholder(x.shape(), x.dtype(), "x"), constant(HostTensor::full({c}, x.dtype(), 1)),
                          constant(HostTensor::full({c}, x.dtype(), 0)), a);
  return Session(Graph::current()).run(TensorList{r.y, r.mean, r.variance}, {{"x", x}});
}

}  // namespace

TEST(batch_norm, is_exact_far_from_zero) {
  const HostTensor x = far_from_zero({40000, 3});
  const HostTensors expected = naive_training({x, HostTensor::full({3}, f64, 1), HostTensor::full({3}, f64, 0)}, {});
  const HostTensors r = run_training(x.cast(f32));
  for (int64_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(r[1].at(c), expected[1].at(c), 6.2e-5);  // one unit in the last place of 1000
    EXPECT_NEAR(r[2].at(c), expected[2].at(c), 2e-6);
  }
  for (int64_t i = 0; i < x.num_elements(); i += 97) EXPECT_NEAR(r[0].at(i), expected[0].at(i), 1e-4);
}

TEST(batch_norm, keeps_an_outlier_in_the_first_row_exact) {
  HostTensor x = randn({40000, 2});
  x.set(0, 1e4);
  const HostTensors expected = naive_training({x, HostTensor::full({2}, f64, 1), HostTensor::full({2}, f64, 0)}, {});
  const HostTensors r = run_training(x.cast(f32));
  EXPECT_NEAR(r[2].at(0) / expected[2].at(0), 1, 1e-6);
}

TEST(batch_norm, keeps_nan_through_relu) {
  HostTensor x = randn({4, 3}).cast(f32);
  x.set(4, std::numeric_limits<double>::quiet_NaN());
  const HostTensors r = run_training(x, {.relu = true});
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(std::isnan(r[0].at(i)), i % 3 == 1) << i;
}

// Larger than the last cache, so that y is streamed.
TEST(batch_norm, streams_what_is_large) {
  const HostTensor x = randn({200000, 48}).cast(f32);
  const HostTensors r = run_training(x);
  for (int64_t i = 0; i < x.num_elements(); i += 101) {
    const double expected = (x.at(i) - r[1].at(i % 48)) / std::sqrt(r[2].at(i % 48) + 1e-5);
    ASSERT_NEAR(r[0].at(i), expected, 1e-5) << i;
  }
}

}  // namespace martello::testing
