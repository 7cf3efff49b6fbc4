#include <martello/graph/core_ops.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/group_norm.h>
#include <martello/ops/internal/channel_loops.h>
#include <martello/ops/internal/naive_norm.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cstring>

namespace martello::testing {
namespace {

constexpr DataFormat kNchw = DataFormat::nchw;

HostTensors naive_group_norm(const HostTensors& in, const GroupNormAttrs& a) {
  const Shape& x = in[0].shape();
  const int axis = channel_axis(a.data_format, x.rank());
  const int64_t groups = a.groups == 0 ? x[axis] : a.groups, members = std::max<int64_t>(x[axis] / groups, 1);
  const auto group = [=](const Index& i) { return i[0] * groups + i[static_cast<size_t>(axis)] / members; };
  const NaiveMoments m = naive_moments(in[0], x[0] * groups, group);
  return {naive_normalize(in[0], m, group, in[1], in[2], axis, a.epsilon)};
}

HostTensors with_numbers(HostTensor x, DataFormat format) {
  const int64_t c = x.shape()[channel_axis(format, x.shape().rank())];
  return {std::move(x), uniform({c}, 0.5, 2, 2), randn({c}, 3)};
}

OpCase row(std::string label, HostTensor x, GroupNormAttrs a) {
  return {.label = std::move(label),
          .inputs = with_numbers(std::move(x), a.data_format),
          .build = [=](TensorList in) { return group_norm(in[0], in[1], in[2], a); },
          .reference = [=](const HostTensors& in) { return naive_group_norm(in, a); },
          .tolerance = 1e-5};
}

// Against batch_norm_training: a sample alone, each channel by itself, is normalized alike.
OpCase grad_row(std::string label, HostTensor x, DataFormat format) {
  HostTensors in = with_numbers(std::move(x), format);
  in.push_back(randn(in[0].shape(), 9));
  return {.label = std::move(label),
          .inputs = in,
          .build =
              [=](TensorList t) {
                const GroupNormAttrs a{.groups = 0, .data_format = format};
                const Operation op = group_norm(t[0], t[1], t[2], a).op();
                const TensorList d = group_norm_grad(t[0], t[1], Tensor(op, 1), Tensor(op, 2), t[3], a);
                const BatchNormAttrs b{.data_format = format};
                const BatchNormResult r = batch_norm_training(t[0], t[1], t[2], b);
                const TensorList e = batch_norm_training_grad(t[0], t[1], t[2], r.mean, r.variance, t[3], b);
                return TensorList{d[0] - e[0], d[1] - e[1], d[2] - e[2]};
              },
          .reference =
              [=](const HostTensors& t) {
                const Shape numbers = t[1].shape();
                return HostTensors{HostTensor(t[0].shape(), f64), HostTensor(numbers, f64), HostTensor(numbers, f64)};
              },
          .tolerance = 1e-4};
}

OpCase twice(OpCase c) {
  c.second_order = true;
  return c;
}
OpCase value_only(OpCase c) {
  c.gradient = false;
  return c;
}

}  // namespace

OP_TEST(group_norm, twice(row("two groups", randn({2, 2, 3, 4}), {.groups = 2})),
        twice(row("channels first", randn({2, 4, 2, 3}), {.groups = 2, .data_format = kNchw})),
        row("rank two", randn({3, 6}), {.groups = 3}), row("one group", randn({2, 3, 3, 5}), {.groups = 1}),
        row("each channel", randn({2, 3, 3, 5}), {.groups = 0}),
        twice(row("each channel first", randn({2, 3, 2, 3}), {.groups = 0, .data_format = kNchw})),
        value_only(row("many", randn({3, 40, 41, 24}), {.groups = 8})),
        value_only(row("many, channels first", randn({2, 6, 70, 70}), {.groups = 2, .data_format = kNchw})),
        value_only(row("nothing", randn({0, 2, 2, 4}), {.groups = 2})),
        value_only(row("no channels", randn({2, 3, 3, 0}), {.groups = 2})));

OP_TEST(group_norm_grad, grad_row("one sample", randn({1, 7, 5, 3}), DataFormat::nhwc),
        grad_row("channels first", randn({1, 3, 7, 5}), kNchw));

OP_REFUSES(group_norm, groups_that_do_not_divide,
           [] {
             const Tensor v = placeholder({6}, f32, "v");
             group_norm(placeholder({2, 3, 3, 6}, f32, "x"), v, v, {.groups = 4});
           },
           {"group_norm", "6 channels", "4 groups"})
OP_REFUSES(group_norm, negative_groups,
           [] {
             const Tensor v = placeholder({6}, f32, "v");
             group_norm(placeholder({2, 3, 3, 6}, f32, "x"), v, v, {.groups = -1});
           },
           {"group_norm", "groups is -1"})
OP_REFUSES(group_norm, another_number_of_channels,
           [] {
             const Tensor v = placeholder({5}, f32, "v");
             instance_norm(placeholder({2, 3, 3, 6}, f32, "x"), v, v);
           },
           {"group_norm", "gamma [5]", "6 channels"})

namespace {

template <class T>
std::vector<T> all_row_results(const cpu::RowLoops<T>& loops, int64_t n) {
  const HostTensor x = randn({n}).cast(dtype_of<T>), dy = randn({n}, 2).cast(dtype_of<T>);
  std::vector<T> r(2 * static_cast<size_t>(n) + 4, T{0});
  double moments[4] = {};
  loops.moments(x.data<T>().data(), n, moments, moments + 1);
  const T mean = static_cast<T>(moments[0]), scale = 2, beta = 1;
  const cpu::ChannelAffine<T> p = {&mean, &scale, &beta, true};
  loops.gradient_sums(x.data<T>().data(), dy.data<T>().data(), n, p, moments + 2, moments + 3);
  for (size_t i = 0; i < 4; ++i) r[i] = static_cast<T>(moments[i]);
  loops.normalize(x.data<T>().data(), dy.data<T>().data(), r.data() + 4, n, p, true);
  loops.gradient(x.data<T>().data(), dy.data<T>().data(), r.data() + 4 + n, n, p, {&scale, &beta, &mean}, true);
  return r;
}
template <class T>
void expect_same_rows(const cpu::RowLoops<T>& a, const cpu::RowLoops<T>& b) {
  for (const int64_t n : {1, 5, 16, 49, 64, 1000, 10000}) {
    const auto x = all_row_results(a, n), y = all_row_results(b, n);
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(T)), 0) << n;
  }
}

}  // namespace

TEST(row_loops, have_the_same_bits_on_every_instruction_set) {
  expect_same_rows(cpu::v2::row_loops_f32, cpu::row_loops<float>());
  expect_same_rows(cpu::v2::row_loops_f64, cpu::row_loops<double>());
  if (cpu::host_isa() == cpu::Isa::v2) return;
  expect_same_rows(cpu::v3::row_loops_f32, cpu::row_loops<float>());
  expect_same_rows(cpu::v3::row_loops_f64, cpu::row_loops<double>());
}

}  // namespace martello::testing
