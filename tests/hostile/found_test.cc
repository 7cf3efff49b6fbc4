// What random graphs have found, made small.
#include <martello/martello.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello {
namespace {

HostTensors run_both_ways(const Fetches& fetches, const Feeds& feeds = {}) {
  const HostTensors fused = Session(Graph::current(), {.poison_arena = true}).run(fetches, feeds);
  const HostTensors plain =
      Session(Graph::current(), {.disabled_passes = {"fuse"}, .poison_arena = true}).run(fetches, feeds);
  for (size_t i = 0; i < fused.size(); ++i) EXPECT_TRUE(fused[i].same_bits(plain[i])) << i;
  return fused;
}

// Two of three rows, by a mask that is fed.
struct Masked {
  Tensor mask = placeholder({3}, boolean, "mask");
  Feeds feeds = {{mask, HostTensor::of<bool>({true, false, true})}};
  Tensor rows(Tensor x) const { return boolean_mask(x, mask); }
};

TEST(Found, a_fetched_value_is_not_overwritten_by_the_last_step) {
  GraphScope scope;
  const Tensor x = placeholder({4}, f64, "x"), y = relu6(x, "y"), z = round(y, "z");
  const auto values = run_both_ways({y, z}, {{x, HostTensor::of<double>({1.75, -1, 0.5, 9})}});
  EXPECT_EQ(values[0].at(0), 1.75);
  EXPECT_EQ(values[1].at(0), 2);
}

TEST(Found, writes_of_one_variable_from_two_devices_keep_their_order) {
  GraphScope scope;
  const Variable v = raw_variable("v", {.shape = {1 << 16}, .initializer = zeros()});
  const Operation set = assign(v, 1.0, "set");
  Operation add;
  {
    const DeviceScope device("cpu:1");
    add = assign_add(v, 1.0, "add");
  }
  for (int i = 0; i < 20; ++i) {
    Session session;
    session.run({set, add});
    EXPECT_EQ(session.get(v).at((1 << 16) - 1), 2);
  }
}

TEST(Found, an_op_by_indices_refuses_fewer_rows_than_indices) {
  GraphScope scope;
  const Masked masked;
  const Tensor x = constant(HostTensor::of<float>({1, 2, 3}));
  const Tensor at = constant(HostTensor::of<int32_t>({2, 1, 0})), rows = masked.rows(x);
  const Variable v = raw_variable("v", {.shape = {3}, .initializer = zeros()});
  EXPECT_THROW(Session().run(scatter_nd(expand_dims(at, 1), rows, {3}), masked.feeds), InvalidArgument);
  EXPECT_THROW(Session().run(densify(at, rows, 3), masked.feeds), InvalidArgument);
  EXPECT_THROW(Session().run(scatter_add(v, at, rows), masked.feeds), InvalidArgument);
}

TEST(Found, a_fused_node_computes_in_one_dtype) {
  GraphScope scope;
  const Tensor x = placeholder({4}, f32, "x"), is_bad = is_nan(x);
  const Tensor a = tanh(cast(is_bad, f64)) * 2, b = logical_not(is_bad), c = exp(x) + cast(is_bad, f32);
  run_both_ways({a, b, c, is_bad}, {{x, HostTensor::of<float>({1, NAN, 0, 2})}});
}

TEST(Found, each_output_of_custom_gradient_has_rows_of_its_own) {
  GraphScope scope;
  const Masked masked;
  const Tensor x = constant(HostTensor::of<float>({1, 2, 3}));
  const auto forward = [&](TensorList in) { return TensorList{exp(in[0]), masked.rows(in[0])}; };
  const TensorList ys = custom_gradient({x}, forward, [](TensorList dy) { return TensorList{dy[0]}; });
  const auto values = run_both_ways({ys[0], ys[1], cast(ys[0], f64)}, masked.feeds);
  EXPECT_EQ(values[0].shape(), Shape(3));
  EXPECT_EQ(values[1].shape(), Shape(2));
  EXPECT_EQ(values[2].shape(), Shape(3));
}

TEST(Found, no_rows_sum_to_zero_where_one_is_the_bound) {
  GraphScope scope;
  const Tensor mask = placeholder({1}, boolean, "mask"), one = constant(HostTensor::of<float>({3}));
  const Tensor none = boolean_mask(one, mask);
  // Beside it a dimension that is summed.
  const Tensor wide = constant(HostTensor::full({1, 3, 2}, f32, 7)),
               narrow = constant(HostTensor::full({1, 3, 1}, f32, 3));
  const auto values = run_both_ways(
      {sum_to_like(none * 2, one), sum_to_like(none * 2, none), sum_to_like(boolean_mask(wide, mask), narrow)},
      {{mask, HostTensor::of<bool>({false})}});
  EXPECT_EQ(values[0].at(0), 0);
  EXPECT_EQ(values[1].shape(), Shape(0));
  EXPECT_TRUE(values[2].same_bits(HostTensor({1, 3, 1}, f32))) << values[2].str();
}

TEST(Found, a_shape_of_many_sizes_is_refused) {
  GraphScope scope;
  const Tensor x = placeholder({}, f32, "x"), sizes = placeholder({int64_t{1} << 31}, i64, "sizes");
  EXPECT_THROW(broadcast_to(x, sizes), InvalidArgument);
  const Tensor fed = placeholder({2}, i64, "fed");
  EXPECT_THROW(Session().run(broadcast_to(x, fed), {{x, 1.0f}, {fed, HostTensor::of<int64_t>({2, 2})}}),
               InvalidArgument);
}

TEST(Found, a_variable_without_an_initializer_can_be_set) {
  const Graph graph = parse_graph("martello graph 1\n%v = variable() {shape=[2], dtype=f32}\n");
  Session session(graph);
  EXPECT_THROW(session.get("v"), InvalidArgument);
  session.set("v", HostTensor::of<float>({1, 2}));
  EXPECT_EQ(session.get("v").at(1), 2);
  EXPECT_THROW(parse_graph("martello graph 1\n%v = variable() {shape=[9], dtype=f32, initializer=subgraph() -> (%c) {\n"
                           "%c = constant() {value=f32[2](1, 2)}\n}}\n"),
               InvalidArgument);
}

TEST(Found, classes_are_no_rows) {
  GraphScope scope;
  const Masked masked;
  const Tensor logits = masked.rows(constant(HostTensor::of<float>({1, 2, 3})));
  EXPECT_THROW(sparse_softmax_cross_entropy(logits, constant(HostTensor::full({}, i32, 0))), InvalidArgument);
  EXPECT_THROW(in_top_k(logits, constant(HostTensor::full({}, i32, 0)), 1), InvalidArgument);
  EXPECT_THROW(prediction_incorrect(logits, constant(HostTensor::full({}, i32, 0))), InvalidArgument);
}

TEST(Found, gates_of_one_sample_are_no_rows) {
  GraphScope scope;
  const Tensor mask = placeholder({4}, boolean, "mask"), c = constant(HostTensor::of<float>({1}));
  const Tensor gates = boolean_mask(constant(HostTensor::of<float>({1, 2, 3, 4})), mask);
  EXPECT_THROW(add_operation(op_lstm_cell, {gates, c}, Attrs(LstmAttrs{}), "cell"), InvalidArgument);
}

TEST(Found, batches_of_a_gather_have_as_many_rows_as_its_indices) {
  GraphScope scope;
  const Masked masked;
  const Tensor x = constant(HostTensor::of<float>({1, 2, 3, 4, 5, 6}, {3, 2}));
  const Tensor indices = masked.rows(constant(HostTensor::of<int64_t>({0, 1, 1}, {3, 1})));
  const Tensor y = gather(x, indices, {.axis = 1, .batch_dims = 1});
  EXPECT_THROW(Session(Graph::current()).eval(y, masked.feeds), InvalidArgument);
}

TEST(Found, a_random_op_counts_with_a_variable) {
  GraphScope scope;
  const Tensor counter = constant(HostTensor({2}, i64));
  EXPECT_THROW(add_operation(op_random_normal, {counter}, Attrs(RandomNormalAttrs{.shape = {3}}), "noise"),
               InvalidArgument);
}

}  // namespace
}  // namespace martello
