#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/internal/naive_reduce.h>
#include <martello/ops/norms.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace martello::testing {
namespace {

double sum_of_squares(const HostTensor& x) {
  double sum = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i) sum += x.at(i) * x.at(i);
  return sum;
}
double norm_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}
HostTensor scaled(const HostTensor& x, double factor) {
  HostTensor y(x.shape(), f64);
  for (int64_t i = 0; i < x.num_elements(); ++i) y.set(i, x.at(i) * factor);
  return y;
}
double clip_factor(double norm, double clip) { return clip / std::max(norm, clip); }

OpCase list_row(std::string label, double clip) {
  return {.label = std::move(label),
          .inputs = {randn({3, 4}), randn({5}, 2)},
          .build =
              [=](TensorList x) {
                TensorList out = clip_by_global_norm({x[0], Tensor(), x[1]}, clip);
                return TensorList{out[0], out[2], global_norm(x)};
              },
          .reference =
              [=](const HostTensors& x) {
                const double norm = std::sqrt(sum_of_squares(x[0]) + sum_of_squares(x[1]));
                const double f = clip_factor(norm, clip);
                return HostTensors{scaled(x[0], f), scaled(x[1], f), HostTensor(norm)};
              }};
}

TEST(norms, have_values_and_gradients) {
  run_op_case("l2_loss",
              {.label = "matrix",
               .inputs = {randn({3, 4})},
               .build = [](TensorList x) { return TensorList{l2_loss(x[0])}; },
               .reference = [](const HostTensors& x) { return HostTensors{HostTensor(sum_of_squares(x[0]) / 2)}; }});
  const ReduceAttrs rows{.axes = 0};
  run_op_case(
      "norm",
      {.label = "rows",
       .inputs = {randn({3, 4})},
       .build = [=](TensorList x) { return TensorList{norm(x[0], rows)}; },
       .reference = [=](const HostTensors& x) { return HostTensors{internal::naive_reduce(x[0], rows, norm_of)}; },
       .second_order = true});
}

TEST(moments, are_mean_and_variance) {
  const ReduceAttrs axes{.axes = {0, 1}};
  const auto mean = [](const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x;
    return sum / static_cast<double>(v.size());
  };
  const auto variance = [=](const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += (x - mean(v)) * (x - mean(v));
    return sum / static_cast<double>(v.size());
  };
  run_op_case(
      "moments",
      {.label = "channels",
       .inputs = {randn({3, 4, 5})},
       .build =
           [=](TensorList x) {
             const Moments m = moments(x[0], axes);
             return TensorList{m.mean, m.variance};
           },
       .reference =
           [=](const HostTensors& x) {
             return HostTensors{internal::naive_reduce(x[0], axes, mean), internal::naive_reduce(x[0], axes, variance)};
           },
       .second_order = true});
}

TEST(clip_by_norm, scales_what_is_too_long) {
  for (const double clip : {0.5, 100.0})
    run_op_case("clip_by_norm", {.label = "matrix",
                                 .inputs = {randn({3, 4})},
                                 .build = [=](TensorList x) { return TensorList{clip_by_norm(x[0], clip)}; },
                                 .reference =
                                     [=](const HostTensors& x) {
                                       const double norm = std::sqrt(sum_of_squares(x[0]));
                                       return HostTensors{scaled(x[0], clip_factor(norm, clip))};
                                     }});
}

// The square of the clip is no number of f32.
TEST(clip_by_norm, takes_clips_of_any_size) {
  const double inf = std::numeric_limits<double>::infinity();
  GraphScope g;
  const Tensor x = placeholder({3}, f32, "x");
  for (const double clip : {inf, 1e20, 1e30, 1e-12})
    for (const double value : {1.0, 0.0}) {
      const auto both = Session().run({clip_by_norm(x, clip), clip_by_global_norm({x}, clip)[0]},
                                      {{x, HostTensor::full({3}, f32, value)}});
      const double expected = clip < 1 ? value * clip / std::sqrt(3) : value;
      for (const HostTensor& y : both) EXPECT_NEAR(y.at(1), expected, 1e-6 * expected) << clip << " of " << value;
    }
}

TEST(clip_by_global_norm, scales_a_list_as_one) {
  run_op_case("clip_by_global_norm", list_row("short", 0.5));
  run_op_case("clip_by_global_norm", list_row("long", 100));
}

}  // namespace

OP_REFUSES(clip_by_norm, negative_clip, [] { clip_by_norm(placeholder({2}, f32, "x"), -1); },
           {"clip_by_norm", "clip is -1"})
OP_REFUSES(global_norm, empty_lists, [] { global_norm(TensorList()); }, {"global_norm", "no tensor"})

}  // namespace martello::testing
