#include <martello/graph/core_ops.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/group_norm.h>
#include <martello/ops/internal/channel_loops.h>
#include <martello/ops/internal/naive_norm.h>
#include <martello/ops/internal/test_images.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cstring>

namespace martello::testing {
namespace {

constexpr DataFormat kNchw = DataFormat::nchw;

using GroupOf = std::function<int64_t(const Index&)>;

int64_t groups_of(const Shape& x, const GroupNormAttrs& a) {
  return a.groups == 0 ? x[channel_axis(a.data_format, x.rank())] : a.groups;
}
GroupOf group_of(const Shape& x, const GroupNormAttrs& a) {
  const int axis = channel_axis(a.data_format, x.rank());
  const int64_t groups = groups_of(x, a), members = std::max<int64_t>(x[axis] / std::max<int64_t>(groups, 1), 1);
  return [=](const Index& i) { return i[0] * groups + i[static_cast<size_t>(axis)] / members; };
}
NaiveMoments moments_of(const HostTensor& x, const GroupNormAttrs& a) {
  return naive_moments(x, x.shape()[0] * groups_of(x.shape(), a), group_of(x.shape(), a));
}

HostTensors naive_group_norm(const HostTensors& in, const GroupNormAttrs& a) {
  const Shape& x = in[0].shape();
  return {naive_normalize(in[0], moments_of(in[0], a), group_of(x, a), in[1], in[2],
                          channel_axis(a.data_format, x.rank()), a.epsilon)};
}
// Inputs: x, gamma, beta, dy.
HostTensors naive_group_norm_grad(const HostTensors& in, const GroupNormAttrs& a) {
  const Shape& x = in[0].shape();
  return naive_normalize_grad(in[0], moments_of(in[0], a), group_of(x, a), in[1], in[3],
                              channel_axis(a.data_format, x.rank()), a.epsilon);
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

OpCase instance_row(std::string label, HostTensor x, InstanceNormAttrs a) {
  OpCase c = row(std::move(label), std::move(x), {.groups = 0, .epsilon = a.epsilon, .data_format = a.data_format});
  c.build = [=](TensorList in) { return instance_norm(in[0], in[1], in[2], a); };
  return c;
}

OpCase grad_row(std::string label, HostTensor x, GroupNormAttrs a) {
  OpCase c = row(std::move(label), std::move(x), a);
  c.inputs.push_back(randn(c.inputs[0].shape(), 9));
  c.build = [=](TensorList in) {
    const Operation op = group_norm(in[0], in[1], in[2], a).op();
    return group_norm_grad(in[0], in[1], Tensor(op, 1), Tensor(op, 2), in[3], a);
  };
  c.reference = [=](const HostTensors& in) { return naive_group_norm_grad(in, a); };
  c.gradient = c.inputs[0].num_elements() > 0;
  c.tolerance = 1e-4;
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

OP_TEST(group_norm_grad, grad_row("one sample", randn({1, 7, 5, 3}), {.groups = 0}),
        grad_row("two groups", randn({2, 2, 3, 4}), {.groups = 2}),
        grad_row("two groups, channels first", randn({2, 6, 3, 2}), {.groups = 2, .data_format = kNchw}));

namespace {

const std::vector<GroupNormAttrs> kOneAndEach = {{.groups = 1}, {.groups = 0}};
const OpTestRows image_norm_rows("group_norm", __FILE__, __LINE__, image_rows(kOneAndEach, row));
const OpTestRows image_grad_rows("group_norm_grad", __FILE__, __LINE__, image_rows(kOneAndEach, grad_row));
const OpTestRows instance_rows("instance_norm", __FILE__, __LINE__,
                               image_rows<InstanceNormAttrs>({{}, {.epsilon = 0.1}}, instance_row));

}  // namespace

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
