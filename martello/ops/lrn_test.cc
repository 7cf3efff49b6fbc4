#include <martello/graph/core_ops.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/internal/test_images.h>
#include <martello/ops/lrn.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

double window_sum(const HostTensor& x, Index i, int axis, int64_t radius, bool is_square) {
  const auto k = static_cast<size_t>(axis);
  const int64_t own = i[k];
  double sum = 0;
  for (int64_t j = std::max<int64_t>(0, own - radius); j <= own + radius && j < x.shape()[axis]; ++j) {
    i[k] = j;
    sum += is_square ? at(x, i) * at(x, i) : at(x, i);
  }
  return sum;
}

OpCase row(std::string label, HostTensor x, ChannelWindowSumAttrs a) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return channel_window_sum(in[0], a); },
          .reference =
              [=](const HostTensors& in) {
                const int axis = normalized_axis(a.axis, in[0].shape().rank());
                return HostTensors{tabulate(
                    in[0].shape(), f64, [&](const Index& i) { return window_sum(in[0], i, axis, a.radius, false); })};
              },
          .second_order = true};
}

}  // namespace

OP_TEST(channel_window_sum, row("last", randn({4, 9}), {.radius = 2}), row("itself", randn({5}), {.radius = 0}),
        row("first", randn({9, 4}), {.axis = 0, .radius = 3}),
        row("middle", randn({2, 5, 3}), {.axis = 1, .radius = 1}),
        row("wider than the axis", randn({3, 4}), {.radius = int64_t{1} << 62}),
        row("many rows", randn({700, 30}), {.radius = 2}), row("nothing", randn({0, 3}), {.radius = 1}),
        row("rank six", randn({2, 1, 3, 2, 2, 3}), {.axis = 2, .radius = 1}));

OP_REFUSES(channel_window_sum, a_negative_radius,
           [] {
             channel_window_sum(placeholder({2, 3}, f32, "x"), {.radius = -1});
           },
           {"channel_window_sum", "radius is -1"})
OP_REFUSES(channel_window_sum, integers,
           [] {
             channel_window_sum(placeholder({2, 3}, i32, "x"), {.radius = 1});
           },
           {"channel_window_sum", "i32", "f32"})

namespace {

OpCase lrn_row(std::string label, HostTensor x, LrnAttrs a) {
  const int axis = channel_axis(a.data_format, 4);
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{lrn(in[0], a)}; },
          .reference =
              [=](const HostTensors& in) {
                return HostTensors{tabulate(in[0].shape(), f64, [&](const Index& i) {
                  const double sum = window_sum(in[0], i, axis, a.radius, true);
                  return at(in[0], i) / std::pow(a.bias + a.alpha * sum, a.beta);
                })};
              }};
}

const std::vector<LrnAttrs> kWindows = {{.radius = 2, .bias = 2, .alpha = 0.5, .beta = 0.75}, {}};
const OpTestRows lrn_rows("lrn", __FILE__, __LINE__, image_rows(kWindows, lrn_row));
const OpTestRows image_sum_rows("channel_window_sum", __FILE__, __LINE__,
                                image_rows(kWindows, [](std::string label, HostTensor x, LrnAttrs a) {
                                  const int axis = channel_axis(a.data_format, 4);
                                  return row(std::move(label), std::move(x), {.axis = axis, .radius = a.radius});
                                }));

}  // namespace

}  // namespace martello::testing
