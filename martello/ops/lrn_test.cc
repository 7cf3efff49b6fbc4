#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/lrn.h>
#include <martello/runtime/session.h>
#include <martello/testing/grad_check.h>
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

TEST(lrn, divides_by_the_response_around) {
  for (const DataFormat format : {DataFormat::nhwc, DataFormat::nchw}) {
    GraphScope scope;
    const HostTensor x = randn({2, 7, 3, 5});
    const LrnAttrs a{.radius = 2, .bias = 2, .alpha = 0.5, .beta = 0.75, .data_format = format};
    const Tensor y = lrn(placeholder(x.shape(), f64, "x"), a);
    const HostTensor got = Session(Graph::current()).run(y, {{"x", x}})[0];
    const int axis = channel_axis(format, 4);
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const double sum = window_sum(x, index_of(x.shape(), i), axis, 2, true);
      ASSERT_NEAR(got.at(i), x.at(i) / std::pow(2 + 0.5 * sum, 0.75), 1e-12) << i;
    }
  }
}

TEST(lrn, has_gradients) {
  check_gradients([](TensorList in) { return TensorList{lrn(in[0], {.radius = 1, .beta = 0.75})}; },
                  {randn({2, 2, 2, 5})});
}

}  // namespace martello::testing
