#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/graph/scopes.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/compare.h>
#include <martello/ops/fused.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/ops/where.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

using Chain = std::function<TensorList(TensorList)>;

Subgraph body_of(const TensorList& xs, const Chain& chain) {
  std::vector<TensorSpec> args;
  for (const Tensor& x : xs) args.push_back({.shape = x.shape(), .dtype = x.dtype()});
  return build_subgraph(args, chain).body;
}

// The chain fused, less the chain op by op: exactly zero, because the bits are the same.
Build difference(const Chain& chain) {
  return [chain](TensorList xs) {
    const TensorList whole = fused(xs, {.body = body_of(xs, chain)}), single = chain(xs);
    TensorList differences;
    for (size_t i = 0; i < whole.size(); ++i) differences.push_back(not_equal(whole[i], single[i]));
    return differences;
  };
}

Reference nothing(size_t outputs) {
  return [=](const HostTensors& in) {
    const HostTensor zero = map_elements(
        in, [](const std::vector<double>&) { return 0.0; }, boolean);
    return HostTensors(outputs, zero);
  };
}

TensorList activation_chain(TensorList x) { return {tanh(x[0] * 2 + x[1]) / (exp(-x[0]) + 1)}; }
TensorList masked_chain(TensorList x) {
  const Tensor is_large = logical_and(x[0] > 0.25, logical_not(x[2]));
  return {where(is_large, leaky_relu(x[1], 0.3), x[0]), cast(is_large, x[0].dtype()) * square(x[1]), is_large};
}

OpCase row(std::string label, HostTensors inputs, const Chain& chain, size_t outputs) {
  return {.label = std::move(label),
          .inputs = std::move(inputs),
          .build = difference(chain),
          .reference = nothing(outputs),
          .gradient = false,
          .unknown_shapes = false};
}

Chain reduced_chain(FusedReduction) {
  return [](TensorList x) { return TensorList{x[0] * x[1] + 1}; };
}
OpCase reduce_row(std::string label, FusedReduction kind, Shape a, Shape b, ReduceAttrs attrs,
                  Tensor (*reduce)(Operand, ReduceAttrs, Name)) {
  return {.label = std::move(label),
          .inputs = {uniform(a, 0.5, 1, 1), uniform(b, 0.5, 1, 2)},
          .build =
              [=](TensorList xs) {
                const FusedAttrs fused_attrs{.body = body_of(xs, reduced_chain(kind)),
                                             .reduction = kind,
                                             .axes = attrs.axes,
                                             .keep_dims = attrs.keep_dims};
                const Tensor single = reduce(reduced_chain(kind)(xs)[0], attrs, "single");
                return TensorList{not_equal(fused(xs, fused_attrs)[0], single)};
              },
          .reference =
              [=](const HostTensors& in) {
                const HostTensor y = map_elements(
                    in, [](const std::vector<double>&) { return 0.0; }, boolean);
                Shape shape = y.shape();
                const auto marked = internal::marked_axes(attrs.axes, shape.rank());
                return HostTensors{HostTensor(internal::reduced_shape(shape, marked, attrs.keep_dims), boolean)};
              },
          .gradient = false,
          .unknown_shapes = false};
}

}  // namespace

OP_TEST(fused, row("same shapes", {randn({5, 211}, 1), randn({5, 211}, 2)}, activation_chain, 1),
        row("broadcast", {randn({5, 33}, 1), randn({33}, 2)}, activation_chain, 1),
        row("column", {randn({5, 33}, 1), randn({5, 1}, 2)}, activation_chain, 1),
        row("scalars", {randn({}, 1), randn({}, 2)}, activation_chain, 1),
        row("empty", {randn({0, 4}, 1), randn({4}, 2)}, activation_chain, 1),
        row("rank 6", {randn({2, 1, 3, 1, 2, 2}, 1), randn({3, 2, 1, 2}, 2)}, activation_chain, 1),
        row("masks", {randn({7, 65}, 1), randn({7, 65}, 2), booleans({7, 65}, 3)}, masked_chain, 3));

OP_TEST(fused_reduce, reduce_row("rows", FusedReduction::sum, {37, 65}, {65}, {.axes = {0}}, reduce_sum),
        reduce_row("columns", FusedReduction::mean, {37, 65}, {37, 1}, {.axes = {-1}, .keep_dims = true}, reduce_mean),
        reduce_row("all", FusedReduction::max, {37, 65}, {37, 65}, {}, reduce_max),
        reduce_row("middle", FusedReduction::min, {4, 9, 5}, {9, 1}, {.axes = {1}}, reduce_min),
        reduce_row("product", FusedReduction::prod, {3, 4}, {4}, {.axes = {1}}, reduce_prod));

TEST(fused_reduce, means_are_over_the_rows_of_this_run) {
  const GraphScope scope;
  const Tensor x = placeholder({4, 3}, f32, "x");
  const Tensor y = fused({x}, {.body = body_of({x}, [](TensorList in) { return TensorList{in[0] * 2}; }),
                               .reduction = FusedReduction::mean,
                               .axes = {0}})[0];
  const std::vector<TensorSpec> in = {{.shape = {4, 3}}}, out = {{.shape = {3}}};
  const Kernel kernel =
      y.node()->def->cpu({.op = y.node()->info(), .in = in, .out = out, .attributes = &y.node()->attrs});
  std::vector<float> values = {1, 2, 3, 5, 6, 7, 100, 100, 100, 100, 100, 100}, mean(3);
  std::vector<std::byte> scratch(static_cast<size_t>(kernel.scratch_bytes()));
  RunTensor input = {values.data(), 6, 2}, output = {mean.data(), 3, 3};
  const KernelRun run{.in_ = &input, .out_ = &output, .scratch = scratch.data()};
  kernel.bind(run)(run);
  EXPECT_EQ(mean, (std::vector<float>{6, 8, 10}));
}

TEST(is_fusable, asks_for_a_formula_and_a_computing_dtype) {
  const GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x"), i = placeholder({2}, i32, "i"), m = placeholder({2}, boolean, "m");
  EXPECT_TRUE(is_fusable(*(x + 1).node()));
  EXPECT_TRUE(is_fusable(*(x > 1).node()));
  EXPECT_TRUE(is_fusable(*logical_and(m, m).node()));
  EXPECT_TRUE(is_fusable(*where(m, x, x).node()));
  EXPECT_TRUE(is_fusable(*cast(m, f64).node()));
  EXPECT_TRUE(is_fusable(*cast(placeholder({2}, u8, "u"), f32).node()));
  EXPECT_FALSE(is_fusable(*cast(x, f64).node()));
  EXPECT_TRUE(is_fusable(*cast(x, bf16).node()));
  EXPECT_FALSE(is_fusable(*cast(cast(x, bf16), f32).node()));
  EXPECT_FALSE(is_fusable(*cast(x, u8).node()));
  EXPECT_FALSE(is_fusable(*(i + 1).node()));
  EXPECT_FALSE(is_fusable(*(i > 1).node()));
  EXPECT_FALSE(is_fusable(*x.node()));
}

OP_REFUSES(fused, other_ops,
           [] {
             const Tensor x = placeholder({2}, f32, "x");
             fused({x}, {.body = body_of({x}, [](TensorList in) { return TensorList{reduce_sum(in[0])}; })});
           },
           {"[fused 'fused']", "reduce_sum", "element-wise"})
OP_REFUSES(
    fused, small_outputs,
    [] {
      const Tensor x = placeholder({2, 3}, f32, "x"), y = placeholder({3}, f32, "y");
      fused({x, y}, {.body = body_of({x, y}, [](TensorList in) { return TensorList{in[0] + in[1], in[1] * 2}; })});
    },
    {"[fused 'fused'] output 1 is [3] but the inputs broadcast to [2, 3]"})
OP_REFUSES(fused, input_count,
           [] {
             const Tensor x = placeholder({2}, f32, "x");
             fused({x, x}, {.body = body_of({x}, [](TensorList in) { return TensorList{in[0] + 1}; })});
           },
           {"[fused 'fused'] has 2 inputs, its body 1"})
OP_REFUSES(fused_reduce, axes,
           [] {
             const Tensor x = placeholder({2}, f32, "x");
             fused({x}, {.body = body_of({x}, [](TensorList in) { return TensorList{in[0] + 1}; }),
                         .reduction = FusedReduction::sum,
                         .axes = {3}});
           },
           {"[fused_reduce 'fused']", "axis 3"})

}  // namespace martello::testing
