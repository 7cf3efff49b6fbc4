#include <martello/graph/core_ops.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/layer_norm_loops.h>
#include <martello/ops/internal/naive_norm.h>
#include <martello/ops/internal/test_images.h>
#include <martello/ops/layer_norm.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cstring>

namespace martello::testing {
namespace {

constexpr DataFormat kNchw = DataFormat::nchw;

// x, and how it is normalized.
struct Layer {
  NaiveMoments moments;
  std::function<int64_t(const Index&)> group;
  int channel;

  Layer(const HostTensor& x, const LayerNormAttrs& a) : channel(channel_axis(a.data_format, x.shape().rank())) {
    const int begin = normalized_axis(a.begin_axis, x.shape().rank());
    const Shape kept = x.shape().slice(0, begin);
    group = [=](const Index& i) { return flat_index(kept, part(i, 0, static_cast<size_t>(begin))); };
    moments = naive_moments(x, kept.num_elements(), group);
  }
};

HostTensors naive_layer_norm(const HostTensors& in, const LayerNormAttrs& a) {
  const Layer layer(in[0], a);
  return {naive_normalize(in[0], layer.moments, layer.group, in[1], in[2], layer.channel, a.epsilon)};
}
// Inputs: x, gamma, beta, dy.
HostTensors naive_layer_norm_grad(const HostTensors& in, const LayerNormAttrs& a) {
  const Layer layer(in[0], a);
  return naive_normalize_grad(in[0], layer.moments, layer.group, in[1], in[3], layer.channel, a.epsilon);
}

OpCase row(std::string label, HostTensor x, LayerNormAttrs a = {}) {
  const int64_t c = x.shape()[channel_axis(a.data_format, x.shape().rank())];
  return {.label = std::move(label),
          .inputs = {std::move(x), uniform({c}, 0.5, 2, 2), randn({c}, 3)},
          .build = [=](TensorList in) { return layer_norm(in[0], in[1], in[2], a); },
          .reference = [=](const HostTensors& in) { return naive_layer_norm(in, a); },
          .tolerance = 1e-5};
}

OpCase grad_row(std::string label, HostTensor x, LayerNormAttrs a = {}) {
  OpCase c = row(std::move(label), std::move(x), a);
  c.inputs.push_back(randn(c.inputs[0].shape(), 4));
  c.build = [=](TensorList in) {
    const Operation op = layer_norm(in[0], in[1], in[2], a).op();
    return layer_norm_grad(in[0], in[1], Tensor(op, 1), Tensor(op, 2), in[3], a);
  };
  c.reference = [=](const HostTensors& in) { return naive_layer_norm_grad(in, a); };
  c.gradient = c.inputs[0].num_elements() > 0;
  c.tolerance = 2e-5;
  return c;
}

}  // namespace

OP_TEST(layer_norm, twice(row("rows", randn({4, 7}))), row("vector", randn({19})), row("rank three", randn({2, 3, 5})),
        twice(row("images", randn({2, 3, 2, 4}), {.begin_axis = 1})),
        twice(row("channels first", randn({2, 4, 2, 3}), {.begin_axis = 1, .data_format = kNchw})),
        row("everything", randn({3, 2, 5}), {.begin_axis = 0}),
        row("everything, channels first", randn({3, 2, 5}), {.begin_axis = 0, .data_format = kNchw}),
        row("two axes", randn({2, 3, 4, 5}), {.begin_axis = -2}), row("rank six", randn({2, 1, 3, 2, 2, 3})),
        value_only(row("long rows", randn({3, 5000}))), value_only(row("many rows", randn({2000, 40}))),
        value_only(row("many pixels", randn({3, 40, 40, 17}), {.begin_axis = 1})),
        value_only(row("no rows", randn({0, 4}))), value_only(row("no elements", randn({4, 0}))));

OP_TEST(layer_norm_grad, grad_row("few", randn({3, 5})), value_only(grad_row("long rows", randn({3, 5000}))),
        value_only(grad_row("many rows", randn({2100, 37}))), grad_row("no rows", randn({0, 3})));

namespace {

const std::vector<LayerNormAttrs> kImages = {{.begin_axis = 1}, {.epsilon = 0.1, .begin_axis = 1}};
const OpTestRows image_norm_rows("layer_norm", __FILE__, __LINE__, image_rows(kImages, row));
const OpTestRows image_grad_rows("layer_norm_grad", __FILE__, __LINE__, image_rows(kImages, grad_row));

}  // namespace

OP_REFUSES(layer_norm, a_channel_that_is_not_normalized,
           [] {
             const Tensor v = placeholder({3}, f32, "v");
             layer_norm(placeholder({2, 3, 4, 5}, f32, "x"), v, v, {.begin_axis = 2, .data_format = kNchw});
           },
           {"layer_norm", "axis 1", "begin_axis 2"})
OP_REFUSES(layer_norm, axis_out_of_range,
           [] {
             const Tensor v = placeholder({3}, f32, "v");
             layer_norm(placeholder({2, 3}, f32, "x"), v, v, {.begin_axis = 2});
           },
           {"layer_norm", "axis 2", "[2, 3]"})
OP_REFUSES(layer_norm, another_number_of_channels,
           [] {
             const Tensor v = placeholder({4}, f32, "v");
             layer_norm(placeholder({2, 3}, f32, "x"), v, v);
           },
           {"layer_norm", "gamma [4]", "3 channels"})

namespace {

template <class T>
std::vector<T> all_results(const cpu::LayerNormLoops<T>& loops, int64_t n) {
  constexpr int64_t kRows = 3;
  const HostTensor x = randn({kRows, n}).cast(dtype_of<T>), dy = randn({kRows, n}, 2).cast(dtype_of<T>);
  const T *in = x.data<T>().data(), *g = dy.data<T>().data();
  std::vector<T> r(static_cast<size_t>(2 * kRows * n + 2 * n + 2 * kRows), T{0});
  T *y = r.data(), *dx = y + kRows * n, *dgamma = dx + kRows * n, *mean = dgamma + 2 * n;
  loops.normalize(in, in, g, y, mean, mean + kRows, kRows, n, 1e-5, true);
  loops.gradient(in, g, mean, mean + kRows, g, dx, dgamma, dgamma + n, kRows, n, 1e-5, true);
  return r;
}
template <class T>
void expect_same_bits(const cpu::LayerNormLoops<T>& a, const cpu::LayerNormLoops<T>& b) {
  for (const int64_t n : {1, 5, 16, 49, 64, 1000, 5000}) {
    const auto x = all_results(a, n), y = all_results(b, n);
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(T)), 0) << n;
  }
}

}  // namespace

TEST(layer_norm_loops, have_the_same_bits_on_every_instruction_set) {
  expect_same_bits(cpu::v2::layer_norm_loops_f32, cpu::layer_norm_loops<float>());
  expect_same_bits(cpu::v2::layer_norm_loops_f64, cpu::layer_norm_loops<double>());
  if (cpu::host_isa() == cpu::Isa::v2) return;
  expect_same_bits(cpu::v3::layer_norm_loops_f32, cpu::layer_norm_loops<float>());
  expect_same_bits(cpu::v3::layer_norm_loops_f64, cpu::layer_norm_loops<double>());
}

}  // namespace martello::testing
