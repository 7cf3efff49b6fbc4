#include <martello/autodiff/gradients.h>
#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/graph/verify.h>
#include <martello/ops/activation.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/compare.h>
#include <martello/ops/cond.h>
#include <martello/ops/control.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/random.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>
#include <martello/ops/scan.h>
#include <martello/ops/shape.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

// s' = tanh(s w + x), y = s' x
TensorList recurrence(const TensorList& in, bool reverse) {
  const auto r = scan(
      [&](TensorList c, TensorList x) {
        const Tensor s = tanh(c[0] * in[2] + x[0]);
        return ScanStep{s, s * x[0]};
      },
      in[0], in[1], {.reverse = reverse});
  return {r.carried[0], r.ys[0]};
}

HostTensors naive_recurrence(const HostTensors& in, bool reverse) {
  const int64_t steps = in[1].shape()[0], n = in[0].num_elements();
  HostTensor s = in[0].cast(f64), y(in[1].shape(), f64);
  for (int64_t i = 0; i < steps; ++i)
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = (reverse ? steps - 1 - i : i) * n + k;
      s.set(k, std::tanh(s.at(k) * in[2].at(k) + in[1].at(at)));
      y.set(at, s.at(k) * in[1].at(at));
    }
  return {s, y};
}

OpCase row(std::string label, int64_t steps, Shape state, bool reverse = false) {
  Shape xs(steps);
  for (int i = 0; i < state.rank(); ++i) xs.push_back(state[i]);
  return {.label = std::move(label),
          .inputs = {randn(state), randn(xs, 2), randn(state, 3)},
          .build = [=](TensorList in) { return recurrence(in, reverse); },
          .reference = [=](const HostTensors& in) { return naive_recurrence(in, reverse); },
          .second_order = true};
}

// None, some and many numbers over one step and more, forward and backward.
std::vector<OpCase> rows_of_sizes() {
  std::vector<OpCase> list;
  for (const int64_t steps : {1, 2, 5})
    for (const int64_t size : {0, 1, 3, 17})
      list.push_back(row(str(steps, " steps of ", size), steps, {size}, list.size() % 2 > 0));
  return list;
}
const OpTestRows size_rows("scan", __FILE__, __LINE__, rows_of_sizes());

// Two carried, one of them an integer, two xs and no ys but one.
TensorList mixed(TensorList in) {
  const auto r = scan(
      [](TensorList c, TensorList x) {
        const Tensor s = c[0] + sin(x[0]) * x[1];
        return ScanStep{{s, c[1] + 1}, {cast(c[1], s.dtype()) * s}};
      },
      {in[0], constant(HostTensor(int64_t{3}))}, {in[1], in[2]});
  return {r.carried[0], r.ys[0]};
}

HostTensors naive_mixed(const HostTensors& in) {
  HostTensor s = in[0].cast(f64), y(in[1].shape(), f64);
  for (int64_t i = 0; i < in[1].num_elements(); ++i) {
    const int64_t k = i % 2, t = i / 2;
    s.set(k, s.at(k) + std::sin(in[1].at(i)) * in[2].at(i));
    y.set(i, static_cast<double>(3 + t) * s.at(k));
  }
  return {s, y};
}

// No xs and nothing carried but a power.
TensorList powers(TensorList in) {
  const auto r = scan(
      [&](TensorList c, TensorList) {
        return ScanStep{matmul(c[0], in[1]), reduce_sum(c[0])};
      },
      in[0], {}, {.steps = 4});
  return {r.carried[0], r.ys[0]};
}

// A scan in a scan, and a cond in both.
TensorList nested(TensorList in) {
  return scan(
             [&](TensorList c, TensorList x) {
               const auto inner = scan(
                   [&](TensorList s, TensorList) {
                     return ScanStep{
                         cond(
                             reduce_sum(s[0]) > 0, [&] { return s[0] * in[2]; }, [&] { return s[0] + x[0]; }),
                         {}};
                   },
                   c[0] + x[0], {}, {.steps = 3});
               return ScanStep{tanh(inner.carried[0]), {}};
             },
             in[0], in[1])
      .carried;
}

}  // namespace

OP_TEST(scan, row("forward", 4, {3}), row("backward", 5, {2, 3}, true), row("scalars", 3, {}), row("one step", 1, {4}),
        row("no steps", 0, {4}), row("nothing carried", 3, {0}), row("long", 60, {1}),
        {.label = "integers beside numbers",
         .inputs = {randn({2}), randn({3, 2}, 2), randn({3, 2}, 3)},
         .build = mixed,
         .reference = naive_mixed,
         .second_order = true},
        {.label = "no xs", .inputs = {randn({2, 2}), randn({2, 2}, 2)}, .build = powers, .second_order = true},
        {.label = "bodies in bodies", .inputs = {randn({3}), randn({4, 3}, 2), randn({3}, 3)}, .build = nested});

OP_REFUSES(scan, a_carried_tensor_of_another_shape,
           [] {
             const Tensor s = placeholder({3}, f32, "s"), x = placeholder({5, 2}, f32, "x");
             scan([](TensorList, TensorList r) { return ScanStep{r[0], {}}; }, s, x, {}, "loop");
           },
           {"[scan 'loop']", "carried tensor 0", "f32[3]", "f32[2]"})
OP_REFUSES(scan, a_carried_tensor_of_another_dtype,
           [] {
             const Tensor s = placeholder({3}, f32, "s"), x = placeholder({5, 3}, f32, "x");
             scan([](TensorList c, TensorList) { return ScanStep{cast(c[0], f64), {}}; }, s, x, {}, "loop");
           },
           {"[scan 'loop']", "carried tensor 0", "f32[3]", "f64[3]"})
OP_REFUSES(scan, another_number_carried,
           [] {
             const Tensor s = placeholder({3}, f32, "s"), x = placeholder({5, 3}, f32, "x");
             scan([](TensorList c, TensorList r) { return ScanStep{{c[0], r[0]}, {}}; }, s, x, {}, "loop");
           },
           {"[scan 'loop']", "given 1", "gives 2"})
OP_REFUSES(scan, xs_of_different_lengths,
           [] {
             const Tensor x = placeholder({5, 3}, f32, "x"), y = placeholder({4, 3}, f32, "y");
             scan([](TensorList c, TensorList) { return ScanStep{c, {}}; }, x, {x, y}, {}, "loop");
           },
           {"[scan 'loop']", "xs[1] [4, 3]", "4 rows", "5"})
OP_REFUSES(scan, a_scalar_as_xs,
           [] {
             const Tensor x = placeholder({}, f32, "x");
             scan([](TensorList c, TensorList) { return ScanStep{c, {}}; }, x, x, {}, "loop");
           },
           {"[scan 'loop']", "'x'", "scalar"})
OP_REFUSES(scan, no_number_of_steps,
           [] {
             scan([](TensorList c, TensorList) { return ScanStep{c, {}}; }, placeholder({2}, f32, "x"), {}, {}, "loop");
           },
           {"[scan 'loop']", "steps", "-1"})
OP_REFUSES(scan, a_body_that_gives_nothing,
           [] { scan([](TensorList, TensorList) { return ScanStep{}; }, {}, placeholder({2}, f32, "x"), {}, "loop"); },
           {"[scan 'loop']", "no tensors"})
OP_REFUSES(scan, writes_in_the_body,
           [] {
             const Variable v = get_scalar_var("v", 1);
             const auto body = [&](TensorList, TensorList x) {
               assign(v, x[0]);
               return ScanStep{{}, x};
             };
             scan(body, {}, placeholder({2}, f32, "x"), {}, "loop");
           },
           {"[scan 'loop']", "'assign'", "inside the body"})

TEST(scan, random_numbers_differ_from_step_to_step_and_are_the_same_in_the_gradient) {
  GraphScope scope;
  const Tensor x = placeholder({3, 8}, f32, "x");
  const Tensor y = scan([](TensorList, TensorList r) { return ScanStep{{}, r[0] * random_uniform({8})}; }, {}, x).ys[0];
  const Tensor dx = gradients(y, x)[0];
  verify(scope.graph());
  Session session;
  const Feeds feeds{{x, HostTensor::full({3, 8}, f32, 1)}};
  const HostTensors first = session.run({y, dx}, feeds), second = session.run({y, dx}, feeds);
  EXPECT_TRUE(first[0].same_bits(first[1]));
  EXPECT_FALSE(first[0].same_bits(second[0])) << "the counter advances";
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_NE(first[0].at(i), first[0].at(8 + i));
    EXPECT_NE(first[0].at(i), first[0].at(16 + i));
  }
}

TEST(scan, random_numbers_of_a_cond_in_the_body_differ_too) {
  GraphScope scope;
  const Tensor x = placeholder({2, 4}, f32, "x");
  const Tensor y = scan(
                       [](TensorList, TensorList r) {
                         return ScanStep{{},
                                         cond(
                                             reduce_sum(r[0]) > 0, [&] { return r[0] * random_uniform({4}); },
                                             [&] { return r[0]; })};
                       },
                       {}, x)
                       .ys[0];
  const HostTensor value = Session().eval(y, {{x, HostTensor::full({2, 4}, f32, 1)}});
  for (int64_t i = 0; i < 4; ++i) EXPECT_NE(value.at(i), value.at(4 + i));
}

TEST(scan, sizes_from_outside_can_be_used_inside) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 4}, f32, "x"), z = placeholder({kUnknown, 6}, f32, "z");
  const Tensor rows = shape(z)[0];
  const Tensor y = scan([&](TensorList, TensorList r) { return ScanStep{{}, reshape(r[0], {rows, 2})}; }, {}, x).ys[0];
  const HostTensor value =
      Session().eval(y, {{x, HostTensor::full({3, 4}, f32, 1)}, {z, HostTensor::full({2, 6}, f32, 1)}});
  EXPECT_EQ(value.shape(), Shape(3, 2, 2));
}

TEST(scan, variables_made_in_the_body_get_their_gradients) {
  GraphScope scope;
  const Tensor x = placeholder({3, 2}, f32, "x");
  const auto body = [](TensorList c, TensorList r) {
    return ScanStep{c[0] + r[0] * get_variable("w", {.shape = {2}, .initializer = constant_init(4)}), {}};
  };
  const Tensor y = scan(body, zeros_like(x[0]), x).carried[0];
  ASSERT_EQ(trainable_variables().size(), 1u);
  const Tensor dw = gradients(y, trainable_variables())[0];
  Session session;
  const HostTensors values = session.run({y, dw}, {{x, HostTensor::full({3, 2}, f32, 1)}});
  EXPECT_EQ(values[0].at(0), 12);
  EXPECT_EQ(values[1].at(1), 3);
}

TEST(scan, a_body_acts_once_per_step_with_its_gradient) {
  std::vector<std::string> lines;
  logger::set_sink([&](logger::Level, std::string_view line) { lines.emplace_back(line); });
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x");
  const Tensor y = scan(
                       [](TensorList, TensorList r) {
                         return ScanStep{{}, print(r[0] * r[0], {.message = "step"})};
                       },
                       {}, x)
                       .ys[0];
  Session().run({y, gradients(y, x)[0]}, {{x, HostTensor::of<float>({2, 3})}});
  logger::set_sink({});
  EXPECT_EQ(lines, (std::vector<std::string>{"step: f32[] 4", "step: f32[] 9"}));
}

}  // namespace martello::testing
