#include <martello/graph/inline.h>
#include <martello/graph/internal/test_ops.h>
#include <martello/graph/verify.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;
using ::testing::IsSubstring;

std::vector<TensorSpec> one_arg(Shape shape = {2}) { return {{std::move(shape), f32, "a"}}; }

std::vector<TensorSpec> like_first(const ShapeContext& c) { return {c.in[0]}; }
std::vector<TensorSpec> nothing(const ShapeContext&) { return {}; }

constinit const OpDef op_tell = {.name = "tell",
                                 .inputs = {"x"},
                                 .outputs = {"y"},
                                 .shape = like_first,
                                 .effect = Effect::host,
                                 .is_pass_through = true};
constinit const OpDef op_claim = {.name = "claim", .inputs = {"x"}, .shape = nothing, .effect = Effect::host};
constinit const OpDef op_ask = {
    .name = "ask", .inputs = {"x"}, .outputs = {"y"}, .shape = like_first, .effect = Effect::host};

TEST(inline_subgraph, adds_what_the_outputs_need_under_free_names) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x"), taken = twice(x, "y");
  const BuiltSubgraph built = build_subgraph(one_arg(), [&](TensorList in) {
    twice(in[0], "unused");
    return TensorList{sum(twice(in[0], "y"), x, "total"), in[0]};
  });
  NameScope outer("inner");
  const TensorList ys = inline_subgraph(built.body, {taken, x});
  EXPECT_EQ(ys[0].name(), "inner/total");
  EXPECT_EQ(ys[0].node()->inputs[0].name(), "inner/y");
  EXPECT_EQ(ys[0].node()->inputs[0].node()->inputs[0], taken);
  EXPECT_EQ(ys[0].node()->inputs[1], x);
  EXPECT_EQ(ys[1], taken);
  EXPECT_FALSE(scope.graph().find_operation("inner/unused"));
  EXPECT_EQ(inline_subgraph(built.body, {taken, x})[0].name(), "inner/total_1");
  verify(scope.graph());
}

TEST(inline_subgraph, keeps_control_edges_devices_scopes_and_lines) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x");
  unsigned line = 0;
  const BuiltSubgraph built = build_subgraph(one_arg(), [&](TensorList in) {
    const Tensor first = twice(in[0], "first");
    ControlDependencies after({first.op()});
    DeviceScope on("cpu:3");
    RecomputeScope again;
    line = __LINE__ + 1;
    return TensorList{twice(in[0], "second")};
  });
  const Tensor y = inline_subgraph(built.body, {x})[0];
  ASSERT_EQ(y.node()->controls.size(), 1u);
  EXPECT_EQ(y.node()->controls[0]->name, "first");
  EXPECT_EQ(y.node()->controls[0]->graph, y.node()->graph);
  EXPECT_EQ(y.node()->device, "cpu:3");
  EXPECT_EQ(y.node()->recompute_scope, 1);
  EXPECT_EQ(y.node()->line.line, line);
}

TEST(inline_subgraph, infers_shapes_again_from_the_inputs) {
  GraphScope scope;
  const BuiltSubgraph built =
      build_subgraph(one_arg({kUnknown}), [](TensorList in) { return TensorList{halves(in[0])[1]}; });
  EXPECT_EQ(inline_subgraph(built.body, placeholder({6}, f32, "x"))[0].shape(), Shape(3));
}

TEST(inline_subgraph, captures_inputs_of_a_graph_around) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x");
  const BuiltSubgraph inner = build_subgraph(one_arg(), [](TensorList in) { return twice(in[0]); });
  const BuiltSubgraph outer = build_subgraph({}, [&](TensorList) { return inline_subgraph(inner.body, {x}); });
  EXPECT_EQ(outer.captures.vector(), std::vector<Tensor>{x});
}

TEST(inline_subgraph, closures_over_the_body_mean_the_copies) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x");
  Tensor kept;
  const BuiltSubgraph built = build_subgraph(one_arg(), [&](TensorList in) {
    kept = twice(in[0], "kept");
    return TensorList(twice(kept, "y"));
  });
  const BuiltSubgraph other = build_subgraph({}, [&](TensorList) {
    const Tensor y = inline_subgraph(without_actions(built.body), {x})[0];
    EXPECT_EQ(twice(kept).node()->inputs[0], y.node()->inputs[0]);
    const BuiltSubgraph below = build_subgraph({}, [&](TensorList) { return TensorList(twice(kept)); });
    EXPECT_EQ(below.captures.vector(), std::vector<Tensor>{y.node()->inputs[0]});
    return TensorList(y);
  });
  EXPECT_EQ(other.captures.vector(), std::vector<Tensor>{x});
}

TEST(inline_subgraph, another_number_of_inputs_is_refused) {
  GraphScope scope;
  const BuiltSubgraph built = build_subgraph(one_arg(), [](TensorList in) { return in; });
  EXPECT_PRED_FORMAT2(IsSubstring, "a body of 1 inputs was given 0",
                      error_of([&] { inline_subgraph(built.body, {}); }));
}

TEST(without_actions, leaves_out_what_can_be_left_out_at_any_depth) {
  GraphScope scope;
  register_op(op_tell), register_op(op_claim), register_op(op_ask);
  const BuiltSubgraph built = build_subgraph(one_arg(), [](TensorList in) {
    const BuiltSubgraph inner =
        build_subgraph(one_arg(), [](TensorList b) { return add_op(op_tell, {b[0]}, "inner_tell"); });
    ControlDependencies after({add_operation(op_claim, {in[0]}, Attrs(), "claim")});
    return TensorList{sum(add_op(op_tell, {in[0]}, "tell"), call(inner, in)), add_op(op_ask, {in[0]}, "ask")};
  });
  EXPECT_NE(find_action(built.body), nullptr);
  const Subgraph pure = without_actions(built.body);
  const std::string text = pure.graph().text();
  for (const char* gone : {"%tell", "%claim", "%inner_tell"}) EXPECT_EQ(text.find(gone), std::string::npos) << text;
  ASSERT_NE(find_action(pure), nullptr) << "its value cannot be had without it";
  EXPECT_EQ(find_action(pure)->name, "ask");
  EXPECT_EQ(find_action(Subgraph(pure.graph(), pure.inputs(), {pure.outputs()[0]})), nullptr);
}

TEST(with_inputs, gives_shapes_for_other_inputs) {
  GraphScope scope;
  const BuiltSubgraph built =
      build_subgraph(one_arg({kUnknown, 3}), [](TensorList in) { return TensorList{halves(in[0])[0]}; });
  const std::vector<TensorSpec> specs{{.shape = {8, 3}, .dtype = f64}};
  const Subgraph made = with_inputs(built.body, specs);
  EXPECT_EQ(made.outputs()[0].shape(), Shape(4, 3));
  EXPECT_EQ(made.outputs()[0].dtype(), f64);
}

TEST(with_constants, takes_values_for_some_args) {
  GraphScope scope;
  const std::vector<TensorSpec> args{{{2}, f32, "a"}, {{2}, f32, "b"}};
  const BuiltSubgraph built = build_subgraph(args, [](TensorList in) { return TensorList{sum(in[0], in[1]), in[0]}; });
  const Subgraph made = with_constants(built.body, {HostTensor::of<float>({1, 2}), std::nullopt});
  ASSERT_EQ(made.inputs().size(), 1u);
  EXPECT_EQ(made.inputs()[0].name(), "b");
  EXPECT_EQ(made.outputs()[1].node()->def, &op_constant);
  EXPECT_EQ(made.outputs()[0].node()->inputs[0], made.outputs()[1]);
}

}  // namespace
}  // namespace martello
