#include <martello/graph/verify.h>

#include <martello/graph/internal/test_ops.h>
#include <martello/graph/node.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;

// A sound graph, which each test breaks in one way.
struct VerifyTest : ::testing::Test {
  GraphScope scope;
  Graph graph = scope.graph();
  Tensor x = placeholder({4}, f32, "x");
  Tensor y = twice(x, "y");
  Tensor w = cell({4}, "w");
  Operation write = store(w, y, "write");

  void expect_broken(const std::string& node, const std::string& rule) {
    const std::string error = error_of([&] { verify(graph); });
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, str("'", node, "'"), error);
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, str("breaks the rule \"", rule, "\""), error);
  }
};

TEST_F(VerifyTest, a_sound_graph_passes) {
  const auto inner = build_subgraph({{{4}, f32, "a"}}, [&](TensorList in) { return sum(in[0], w); });
  call(inner, {x});
  graph.collections().add(kLosses, y);
  verify(graph);
}

TEST_F(VerifyTest, names_must_find_their_node) {
  y.node()->name = "x";
  expect_broken("x", "names are unique");
}

TEST_F(VerifyTest, ids_ascend) {
  y.node()->id = 0;
  expect_broken("y", "ids ascend");
}

TEST_F(VerifyTest, inputs_belong_to_the_graph) {
  GraphScope other;
  y.node()->inputs[0] = placeholder({4}, f32, "foreign");
  expect_broken("y", "inputs are live nodes of the graph");
  y.node()->inputs[0] = Tensor();
  expect_broken("y", "inputs are live nodes of the graph");
}

TEST_F(VerifyTest, dropped_nodes_are_not_inputs) {
  std::vector<bool> keep(static_cast<size_t>(graph.impl().next_id), true);
  keep[static_cast<size_t>(x.node()->id)] = false;
  graph.impl().erase_unmarked(keep);
  expect_broken("y", "inputs are live nodes of the graph");
}

TEST_F(VerifyTest, outputs_exist) {
  y.node()->inputs[0] = Tensor(x.op(), 3);
  expect_broken("y", "inputs are outputs that exist");
}

TEST_F(VerifyTest, controls_are_live) {
  y.node()->controls.push_back(nullptr);
  expect_broken("y", "controls are live nodes of the graph");
}

TEST_F(VerifyTest, cycles_are_refused) {
  x.node()->controls.push_back(y.node());
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "cycle", error_of([&] { verify(graph); }));
}

TEST_F(VerifyTest, outputs_match_the_shape_function) {
  y.node()->outputs[0].shape = Shape(5);
  expect_broken("y", "outputs match the shape function");
  y.node()->outputs[0].shape = Shape(kUnknown);
  verify(graph);
  y.node()->outputs[0].dtype = f64;
  expect_broken("y", "outputs match the shape function");
  y.node()->outputs.push_back({});
  expect_broken("y", "outputs match the shape function");
}

TEST_F(VerifyTest, write_targets_are_variables) {
  write.node()->inputs[0] = y;
  expect_broken("write", "write targets are variables");
}

TEST_F(VerifyTest, attributes_are_of_the_ops_type) {
  w.node()->attrs = Attrs(HalvesAttrs{});
  expect_broken("w", "attributes are of the op's type");
}

TEST_F(VerifyTest, input_counts_fit) {
  y.node()->inputs.push_back(x);
  expect_broken("y", "ops get the inputs they name");
}

TEST_F(VerifyTest, bodies_write_nothing) {
  Graph body;
  {
    GraphScope inside(body);
    store(cell({4}, "v"), placeholder({4}, f32, "p"), "bad");
  }
  EveryAttrs attrs;
  attrs.body = Subgraph(body, {}, {});
  every(attrs);
  expect_broken("bad", "bodies write no variables");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "in the body 'body' of 'every'", error_of([&] { verify(graph); }));
}

TEST_F(VerifyTest, body_inputs_are_args_and_args_are_inputs) {
  Graph body;
  Tensor p, arg;
  {
    GraphScope inside(body);
    p = placeholder({4}, f32, "p");
    arg = add_op(op_arg, {}, PlaceholderAttrs{{4}, f32}, "arg");
  }
  EveryAttrs attrs;
  attrs.body = Subgraph(body, {p}, {});
  Operation made = every(attrs).op();
  expect_broken("p", "a body's inputs are args");
  attrs.body = Subgraph(body, {}, {p});
  made.node()->attrs = Attrs(attrs);
  expect_broken("arg", "args of a body are inputs of it");
  attrs.body = Subgraph(body, {arg}, {p});
  made.node()->attrs = Attrs(attrs);
  verify(graph);
}

TEST_F(VerifyTest, collections_hold_live_nodes) {
  graph.collections().add(kLosses, Tensor(y.op(), 4));
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "collection 'losses'", error_of([&] { verify(graph); }));
}

}  // namespace
}  // namespace martello
