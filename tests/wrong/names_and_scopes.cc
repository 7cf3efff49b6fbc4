#include "wrong.h"

namespace martello::testing {
namespace {

WRONG_PROGRAM(a_node_without_a_name, "[relu \"\"]", "not empty") {
  const Tensor x = input({2});
  HERE relu(x, "");
}

WRONG_PROGRAM(a_name_with_a_blank, "[relu \"my relu\"]", "blank") {
  const Tensor x = input({2});
  HERE relu(x, "my relu");
}

WRONG_PROGRAM(a_name_with_a_colon, "[placeholder \"x:0\"]", "colon") { HERE placeholder({2}, f32, "x:0"); }

WRONG_PROGRAM(a_name_that_ends_like_a_scope, "[relu \"conv/\"]", "'/'") {
  const Tensor x = input({2});
  HERE relu(x, "conv/");
}

WRONG_PROGRAM(a_name_scope_without_a_name, "[name_scope \"\"]", "not empty") { HERE NameScope scope(""); }

WRONG_PROGRAM(a_variable_scope_with_a_blank, "[variable_scope \"my scope\"]", "blank") {
  HERE VariableScope scope("my scope");
}

WRONG_PROGRAM(no_graph_scope_on_this_thread, "[placeholder 'x']", "no graph is current on this thread",
              "GraphScope scope") {
  on_a_thread_of_its_own([&] { HERE placeholder({2}, f32, "x"); });
}

WRONG_PROGRAM(no_graph_scope_for_a_scope, "[name_scope 'fc']", "no graph is current on this thread",
              "GraphScope scope") {
  on_a_thread_of_its_own([&] { HERE NameScope scope("fc"); });
}

WRONG_PROGRAM(no_graph_scope_for_a_variable, "[get_variable 'w']", "no graph is current on this thread",
              "GraphScope scope") {
  on_a_thread_of_its_own([&] { HERE get_variable("w", {.shape = {2}}); });
}

WRONG_PROGRAM(tensors_of_two_graphs, "[add 'sum']", "'a'", "another graph", "GraphScope") {
  const Tensor a = input({2}, f32, "a");
  GraphScope other;
  const Tensor b = input({2}, f32, "b");
  HERE add(a, b, "sum");
}

WRONG_PROGRAM(controls_of_another_graph, "[control_dependencies 'a']", "another graph") {
  const Operation a = input({2}, f32, "a").op();
  GraphScope other;
  HERE ControlDependencies after({a});
}

WRONG_PROGRAM(a_control_that_is_null, "[control_dependencies]", "1", "null") {
  const Operation a = input({2}, f32, "a").op();
  HERE ControlDependencies after({a, Operation()});
}

WRONG_PROGRAM(a_control_edge_between_graphs, "[add_control_dependency 'b']", "'a'", "another graph") {
  const Operation a = input({2}, f32, "a").op();
  GraphScope other;
  const Operation b = input({2}, f32, "b").op();
  HERE add_control_dependency(b, a);
}

WRONG_PROGRAM(a_null_tensor, "[relu 'act']", "input 0", "null Tensor") {
  Tensor x;
  HERE relu(x, "act");
}

WRONG_PROGRAM(a_null_tensor_in_a_list, "[concat 'concat']", "input 1", "null Tensor") {
  const Tensor x = input({2});
  HERE concat({x, Tensor()}, 0);
}

WRONG_PROGRAM(a_null_size, "[extents 'flat']", "null Tensor") {
  const Tensor x = input({2}), n;
  HERE reshape(x, {n, 2}, "flat");
}

WRONG_PROGRAM(an_operation_that_is_not_there, "[graph]", "'image'", "Did you mean 'tower0/image'") {
  input({2}, f32, "tower0/image");
  HERE Graph::current().get_operation("image");
}

WRONG_PROGRAM(a_tensor_that_is_not_there, "[graph]", "'logit'", "Did you mean 'logits'") {
  input({2}, f32, "logits");
  HERE Graph::current().get_tensor("logit");
}

WRONG_PROGRAM(an_output_that_is_not_there, "[graph]", "'halves:2'", "'halves' (split)", "2 outputs") {
  split(input({4}), 2, 0, "halves");
  HERE Graph::current().get_tensor("halves:2");
}

WRONG_PROGRAM(a_tensor_that_is_not_in_the_list, "[tensor_list]", "'labels'", "image, label", "Did you mean 'label'") {
  const TensorList list{input({2}, f32, "image"), input({2}, i32, "label")};
  HERE list["labels"];
}

WRONG_PROGRAM(a_list_unpacked_into_another_number, "[tensor_list]", "3", "2", "image, label") {
  const TensorList list{input({2}, f32, "image"), input({2}, i32, "label")};
  HERE list.unpack<3>();
}

WRONG_PROGRAM(a_device_that_does_not_exist, "[device]", "'gpu:0'", "cpu") { HERE DeviceScope on("gpu:0"); }

WRONG_PROGRAM(a_gradient_override_of_an_unknown_op, "[gradient_override 'guided']", "'rleu'", "Did you mean 'relu'") {
  const GradientOverride::Fn same = [](const GradContext& c) { return TensorList{c.grad(0)}; };
  HERE GradientOverride guided("rleu", "guided", same);
}

WRONG_PROGRAM(scopes_closed_in_the_order_of_opening, "[relu 'act']", "name_scope 'outer'", "name_scope 'inner'",
              "reverse order") {
  const Tensor x = input({2});
  auto outer = std::make_unique<NameScope>("outer");
  auto inner = std::make_unique<NameScope>("inner");
  outer.reset();
  HERE relu(x, "act");
}

WRONG_PROGRAM(a_graph_scope_closed_before_a_scope_inside_it, "[relu 'act']", "graph_scope", "name_scope 'inner'",
              "reverse order") {
  const Tensor x = input({2});
  auto graph = std::make_unique<GraphScope>();
  auto inner = std::make_unique<NameScope>("inner");
  graph.reset();
  HERE relu(x, "act");
}

}  // namespace
}  // namespace martello::testing
