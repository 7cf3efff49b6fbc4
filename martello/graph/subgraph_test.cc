#include <martello/graph/internal/test_ops.h>
#include <martello/graph/node.h>
#include <martello/graph/verify.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;
using ::testing::IsSubstring;

std::vector<TensorSpec> one_arg(Shape shape = {2}) { return {{std::move(shape), f32, "a"}}; }

TEST(subgraph, tensors_of_the_outer_graph_are_captured_once) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x");
  const BuiltSubgraph built = build_subgraph(one_arg(), [&](TensorList in) {
    return TensorList{sum(sum(in[0], x), x), x};
  });
  EXPECT_EQ(built.captures.vector(), std::vector<Tensor>{x});
  ASSERT_EQ(built.body.inputs().size(), 2u);
  EXPECT_EQ(built.body.inputs()[1], built.body.outputs()[1]) << "a captured tensor may be a result";
  EXPECT_NE(built.body.graph(), scope.graph());
  EXPECT_EQ(scope.graph().size(), 1u);
}

TEST(subgraph, captures_pass_through_two_levels) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x");
  TensorList inner_captures;
  const BuiltSubgraph outer = build_subgraph(one_arg(), [&](TensorList in) {
    const BuiltSubgraph inner = build_subgraph(one_arg(), [&](TensorList b) { return sum(b[0], x); });
    inner_captures = inner.captures;
    return TensorList(call(inner, in));
  });
  ASSERT_EQ(inner_captures.size(), 1u);
  EXPECT_EQ(inner_captures[0], outer.body.inputs()[1]) << "the inner body captures the outer body's arg";
  EXPECT_EQ(outer.captures.vector(), std::vector<Tensor>{x});
  call(outer, {x});
  verify(scope.graph());
}

TEST(subgraph, symbols_keep_their_meaning_inside) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown}, f32, "x"), y = placeholder({kUnknown}, f32, "y");
  build_subgraph({}, [&](TensorList) {
    const Tensor inside = twice(x);
    EXPECT_EQ(inside.shape(), x.shape());
    EXPECT_NE(placeholder({kUnknown}, f32, "p").shape(), x.shape());
    EXPECT_NE(placeholder({kUnknown}, f32, "q").shape(), y.shape());
    return TensorList(inside);
  });
}

TEST(subgraph, a_body_keeps_device_and_variable_scope_but_not_names) {
  GraphScope scope;
  NameScope name("outer");
  VariableScope variables("v");
  DeviceScope on("cpu:1");
  build_subgraph(one_arg(), [&](TensorList in) {
    const Tensor y = twice(in[0]);
    EXPECT_EQ(y.name(), "twice");
    EXPECT_EQ(y.node()->device, "cpu:1");
    EXPECT_EQ(VariableScope::current_name(), "v");
    return TensorList(y);
  });
  EXPECT_EQ(Graph::current(), scope.graph());
}

TEST(subgraph, a_finished_body_cannot_change) {
  GraphScope scope;
  const BuiltSubgraph built = build_subgraph(one_arg(), [](TensorList in) { return in; });
  GraphScope inside(built.body.graph());
  EXPECT_THROW(twice(built.body.inputs()[0]), FailedPrecondition);
}

TEST(subgraph, an_error_inside_closes_the_body) {
  GraphScope scope;
  const auto throws = [](TensorList) -> TensorList { throw InvalidArgument("inside"); };
  EXPECT_THROW(build_subgraph(one_arg(), throws), InvalidArgument);
  EXPECT_EQ(Graph::current(), scope.graph());
  EXPECT_THROW(build_subgraph(one_arg(), [](TensorList) { return TensorList(Tensor()); }), InvalidArgument);
}

TEST(subgraph, equal_bodies_are_equal) {
  GraphScope scope;
  const auto made = [](Name name) {
    return build_subgraph(one_arg(), [&](TensorList in) { return twice(in[0], name); }).body;
  };
  EXPECT_TRUE(made("y") == made("y"));
  EXPECT_FALSE(made("y") == made("z"));
  EXPECT_FALSE(made("y") == Subgraph());
}

TEST(subgraph, an_unrelated_graph_is_not_captured) {
  GraphScope other;
  const Tensor x = placeholder({2}, f32, "x");
  GraphScope scope;
  EXPECT_PRED_FORMAT2(IsSubstring, "'x' belongs to another graph",
                      error_of([&] { build_subgraph(one_arg(), [&](TensorList in) { return sum(in[0], x); }); }));
}

TEST(host_functions, are_found_by_name) {
  EXPECT_FALSE(find_host_function("never registered"));
  const HostFunction f("twice the input", [](const HostTensors& in) { return in; });
  register_host_function(f);
  EXPECT_TRUE(find_host_function("twice the input") == f);
  EXPECT_THROW(register_host_function({}), InvalidArgument);
}

}  // namespace
}  // namespace martello
