#include "wrong.h"

namespace martello::testing {
namespace {

const WrongPrograms programs(
    __FILE__,
    {
        {"an_op_that_is_not_differentiable",
         [](Line& here) {
           const Tensor x = input({2, 3}, f32, "x");
           HERE const Tensor y = host_call({x}, {{{2}, f32, "y"}}, [](const HostTensors& in) { return in; }, "lookup")[0];
           const Tensor loss = reduce_sum(y, "loss");
           gradients(loss, x);
         },
         {"[gradients]", "'lookup' (host_call)", "'loss'", "'x'", "stop_gradient()"}},
        {"an_input_that_nothing_depends_on",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x"), z = input({2}, f32, "z");
           const Tensor loss = reduce_sum(x, "loss");
           HERE gradients(loss, z);
         },
         {"[gradients]", "'loss'", "'z'", "Unconnected::zeros"}},
        {"another_number_of_grad_ys",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x"), y = square(x, "y");
           HERE gradients({y, x}, x, {y});
         },
         {"[gradients]", "1 grad_ys", "2 ys"}},
        {"a_grad_y_of_another_shape",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x"), y = square(x, "y"), dy = input({3}, f32, "dy");
           HERE gradients(y, x, dy);
         },
         {"[gradients]", "'dy'", "f32[3]", "'y'", "f32[2]"}},
        {"a_grad_y_of_another_dtype",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x"), y = square(x, "y"), dy = input({2}, f64, "dy");
           HERE gradients(y, x, dy);
         },
         {"[gradients]", "'dy'", "f64[2]", "'y'", "f32[2]"}},
        {"the_gradient_of_an_integer",
         [](Line& here) {
           const Tensor x = input({2, 3}, f32, "x"), y = argmax(x, "best");
           HERE gradients(y, x);
         },
         {"[gradients]", "'best'", "i64[2]"}},
        {"the_gradient_by_nothing",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x");
           HERE gradients(x, {x, Tensor()});
         },
         {"[gradients]", "null Tensor", "xs"}},
        {"the_gradient_of_nothing",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x");
           HERE gradients({}, x);
         },
         {"[gradients]", "no ys"}},
        {"the_gradient_in_another_graph",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x"), y = square(x, "y");
           GraphScope other;
           HERE gradients(y, x);
         },
         {"[gradients]", "'y'", "another graph"}},
        {"a_custom_gradient_of_another_number",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x");
           HERE const TensorList y = custom_gradient({x, x}, [](TensorList in) { return TensorList{in[0]}; }, [](TensorList dy) { return dy; }, "mine");
           gradients(y, x);
         },
         {"'mine'", "2", "1"}},
        {"a_custom_gradient_of_another_shape",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x");
           HERE const TensorList y = custom_gradient({x}, [](TensorList in) { return TensorList{in[0]}; }, [](TensorList dy) { return TensorList{concat({dy[0], dy[0]}, 0)}; }, "mine");
           gradients(y, x);
         },
         {"'mine' (custom_gradient)", "'x'", "f32[2]", "f32[4]"}},
        {"a_gradient_override_that_gives_too_many",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x");
           const GradientOverride guided("relu", "guided", [](const GradContext& c) { return TensorList{c.grad(0), c.grad(0)}; });
           HERE const Tensor y = relu(x, "act");
           gradients(y, x);
         },
         {"'act'", "2", "1"}},
        {"a_cost_that_is_not_a_scalar",
         [](Line& here) {
           const Variable w = get_variable("w", {.shape = {2}});
           HERE const Tensor cost = square(w, "cost");
           Momentum(0.1).minimize(cost);
         },
         {"[optimizer]", "'cost'", "f32[2]", "reduce_mean()"}},
        {"a_cost_that_depends_on_no_variable",
         [](Line& here) {
           get_variable("w", {.shape = {2}});
           const Tensor cost = constant(1, "cost");
           HERE Momentum(0.1).minimize(cost);
         },
         {"[optimizer]", "'cost'", "none of the 1 variables"}},
        {"a_cost_that_is_null",
         [](Line& here) {
           get_variable("w", {.shape = {2}});
           HERE Adam(0.1).minimize(Tensor());
         },
         {"[optimizer]", "cost", "null Tensor"}},
        {"a_variable_given_twice_to_an_optimizer",
         [](Line& here) {
           const Variable w = get_variable("w", {.shape = {2}});
           HERE Momentum(0.1).apply_gradients({{w, w}, {w, w}});
         },
         {"[momentum]", "'w'", "twice", "Add its gradients first"}},
        {"a_gradient_that_is_null",
         [](Line& here) {
           const Variable w = get_variable("w", {.shape = {2}});
           HERE Adam(0.1).apply_gradients({{Tensor(), w}});
         },
         {"[adam]", "'w'", "null gradient"}},
        {"a_gradient_of_another_shape_than_its_variable",
         [](Line& here) {
           const Variable w = get_variable("w", {.shape = {2}});
           const Tensor g = input({3}, f32, "g");
           HERE Adam(0.1).apply_gradients({{g, w}});
         },
         {"[adam]", "'w'", "f32[2]", "'g'", "f32[3]"}},
        {"a_gradient_of_another_dtype_than_its_variable",
         [](Line& here) {
           const Variable w = get_variable("w", {.shape = {2}});
           const Tensor g = input({2}, f64, "g");
           HERE Momentum(0.1).apply_gradients({{g, w}});
         },
         {"[momentum]", "'w'", "f32", "f64"}},
        {"a_learning_rate_that_is_a_vector",
         [](Line& here) {
           const Variable w = get_variable("w", {.shape = {2}});
           const Tensor rate = input({2}, f32, "rate");
           HERE Momentum(rate).apply_gradients({{w, w}});
         },
         {"momentum", "rate", "f32[2]"}},
        {"an_optimizer_of_something_else_than_a_variable",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x");
           HERE Momentum(0.1).apply_gradients({{x, Variable(x)}});
         },
         {"[momentum]", "'x'", "placeholder"}},
    });

}  // namespace
}  // namespace martello::testing
