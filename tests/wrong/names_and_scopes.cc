#include "wrong.h"

namespace martello::testing {
namespace {

const WrongPrograms programs(
    __FILE__,
    {
        {"a_node_without_a_name",
         [](Line& here) {
           const Tensor x = input({2});
           HERE relu(x, "");
         },
         {"[relu \"\"]", "not empty"}},
        {"a_name_with_a_blank",
         [](Line& here) {
           const Tensor x = input({2});
           HERE relu(x, "my relu");
         },
         {"[relu \"my relu\"]", "blank"}},
        {"a_name_with_a_colon",
         [](Line& here) {
           HERE placeholder({2}, f32, "x:0");
         },
         {"[placeholder \"x:0\"]", "colon"}},
        {"a_name_that_ends_like_a_scope",
         [](Line& here) {
           const Tensor x = input({2});
           HERE relu(x, "conv/");
         },
         {"[relu \"conv/\"]", "'/'"}},
        {"a_name_scope_without_a_name",
         [](Line& here) {
           HERE NameScope scope("");
         },
         {"[name_scope \"\"]", "not empty"}},
        {"a_variable_scope_with_a_blank",
         [](Line& here) {
           HERE VariableScope scope("my scope");
         },
         {"[variable_scope \"my scope\"]", "blank"}},
        {"no_graph_scope_on_this_thread",
         [](Line& here) {
           on_a_thread_of_its_own([&] {
             HERE placeholder({2}, f32, "x");
           });
         },
         {"[placeholder 'x']", "no graph is current on this thread", "GraphScope scope"}},
        {"no_graph_scope_for_a_scope",
         [](Line& here) {
           on_a_thread_of_its_own([&] {
             HERE NameScope scope("fc");
           });
         },
         {"[name_scope 'fc']", "no graph is current on this thread", "GraphScope scope"}},
        {"no_graph_scope_for_a_variable",
         [](Line& here) {
           on_a_thread_of_its_own([&] {
             HERE get_variable("w", {.shape = {2}});
           });
         },
         {"[get_variable 'w']", "no graph is current on this thread", "GraphScope scope"}},
        {"tensors_of_two_graphs",
         [](Line& here) {
           const Tensor a = input({2}, f32, "a");
           GraphScope other;
           const Tensor b = input({2}, f32, "b");
           HERE add(a, b, "sum");
         },
         {"[add 'sum']", "'a'", "another graph", "GraphScope"}},
        {"controls_of_another_graph",
         [](Line& here) {
           const Operation a = input({2}, f32, "a").op();
           GraphScope other;
           HERE ControlDependencies after({a});
         },
         {"[control_dependencies 'a']", "another graph"}},
        {"a_control_that_is_null",
         [](Line& here) {
           const Operation a = input({2}, f32, "a").op();
           HERE ControlDependencies after({a, Operation()});
         },
         {"[control_dependencies]", "1", "null"}},
        {"a_control_edge_between_graphs",
         [](Line& here) {
           const Operation a = input({2}, f32, "a").op();
           GraphScope other;
           const Operation b = input({2}, f32, "b").op();
           HERE add_control_dependency(b, a);
         },
         {"[add_control_dependency 'b']", "'a'", "another graph"}},
        {"a_null_tensor",
         [](Line& here) {
           Tensor x;
           HERE relu(x, "act");
         },
         {"[relu 'act']", "input 0", "null Tensor"}},
        {"a_null_tensor_in_a_list",
         [](Line& here) {
           const Tensor x = input({2});
           HERE concat({x, Tensor()}, 0);
         },
         {"[concat 'concat']", "input 1", "null Tensor"}},
        {"a_null_size",
         [](Line& here) {
           const Tensor x = input({2}), n;
           HERE reshape(x, {n, 2}, "flat");
         },
         {"[extents 'flat']", "null Tensor"}},
        {"an_operation_that_is_not_there",
         [](Line& here) {
           input({2}, f32, "tower0/image");
           HERE Graph::current().get_operation("image");
         },
         {"[graph]", "'image'", "Did you mean 'tower0/image'"}},
        {"a_tensor_that_is_not_there",
         [](Line& here) {
           input({2}, f32, "logits");
           HERE Graph::current().get_tensor("logit");
         },
         {"[graph]", "'logit'", "Did you mean 'logits'"}},
        {"an_output_that_is_not_there",
         [](Line& here) {
           split(input({4}), 2, 0, "halves");
           HERE Graph::current().get_tensor("halves:2");
         },
         {"[graph]", "'halves:2'", "'halves' (split)", "2 outputs"}},
        {"a_tensor_that_is_not_in_the_list",
         [](Line& here) {
           const TensorList list{input({2}, f32, "image"), input({2}, i32, "label")};
           HERE list["labels"];
         },
         {"[tensor_list]", "'labels'", "image, label", "Did you mean 'label'"}},
        {"a_list_unpacked_into_another_number",
         [](Line& here) {
           const TensorList list{input({2}, f32, "image"), input({2}, i32, "label")};
           HERE list.unpack<3>();
         },
         {"[tensor_list]", "3", "2", "image, label"}},
        {"a_device_that_does_not_exist",
         [](Line& here) {
           HERE DeviceScope on("gpu:0");
         },
         {"[device]", "'gpu:0'", "cpu"}},
        {"a_gradient_override_of_an_unknown_op",
         [](Line& here) {
           HERE GradientOverride guided("rleu", "guided", [](const GradContext& c) { return TensorList{c.grad(0)}; });
         },
         {"[gradient_override 'guided']", "'rleu'", "Did you mean 'relu'"}},
        {"scopes_closed_in_the_order_of_opening",
         [](Line& here) {
           const Tensor x = input({2});
           auto outer = std::make_unique<NameScope>("outer");
           auto inner = std::make_unique<NameScope>("inner");
           outer.reset();
           HERE relu(x, "act");
         },
         {"[relu 'act']", "name_scope 'outer'", "name_scope 'inner'", "reverse order"}},
        {"a_graph_scope_closed_before_a_scope_inside_it",
         [](Line& here) {
           const Tensor x = input({2});
           auto graph = std::make_unique<GraphScope>();
           auto inner = std::make_unique<NameScope>("inner");
           graph.reset();
           HERE relu(x, "act");
         },
         {"[relu 'act']", "graph_scope", "name_scope 'inner'", "reverse order"}},
    });

}  // namespace
}  // namespace martello::testing
