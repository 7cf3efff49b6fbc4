#include "wrong.h"

namespace martello::testing {
namespace {

using Function = std::function<TensorList(TensorList)>;

WRONG_PROGRAM(an_op_that_is_not_differentiable, "[gradients]", "'lookup' (host_call)", "'loss'", "'x'",
              "stop_gradient()") {
  const Tensor x = input({2, 3}, f32, "x");
  const HostFunction::Fn fn = [](const HostTensors& in) { return in; };
  HERE const Tensor y = host_call({x}, {{{2}, f32, "y"}}, fn, "lookup")[0];
  const Tensor loss = reduce_sum(y, "loss");
  gradients(loss, x);
}

WRONG_PROGRAM(an_input_that_nothing_depends_on, "[gradients]", "'loss'", "'z'", "Unconnected::zeros") {
  const Tensor x = input({2}, f32, "x"), z = input({2}, f32, "z");
  const Tensor loss = reduce_sum(x, "loss");
  HERE gradients(loss, z);
}

WRONG_PROGRAM(another_number_of_grad_ys, "[gradients]", "1 grad_ys", "2 ys") {
  const Tensor x = input({2}, f32, "x"), y = square(x, "y");
  HERE gradients({y, x}, x, {y});
}

WRONG_PROGRAM(a_grad_y_of_another_shape, "[gradients]", "'dy'", "f32[3]", "'y'", "f32[2]") {
  const Tensor x = input({2}, f32, "x"), y = square(x, "y"), dy = input({3}, f32, "dy");
  HERE gradients(y, x, dy);
}

WRONG_PROGRAM(a_grad_y_of_another_dtype, "[gradients]", "'dy'", "f64[2]", "'y'", "f32[2]") {
  const Tensor x = input({2}, f32, "x"), y = square(x, "y"), dy = input({2}, f64, "dy");
  HERE gradients(y, x, dy);
}

WRONG_PROGRAM(the_gradient_of_an_integer, "[gradients]", "'best'", "i64[2]") {
  const Tensor x = input({2, 3}, f32, "x"), y = argmax(x, "best");
  HERE gradients(y, x);
}

WRONG_PROGRAM(the_gradient_by_nothing, "[gradients]", "null Tensor", "xs") {
  const Tensor x = input({2}, f32, "x");
  HERE gradients(x, {x, Tensor()});
}

WRONG_PROGRAM(the_gradient_of_nothing, "[gradients]", "no ys") {
  const Tensor x = input({2}, f32, "x");
  HERE gradients({}, x);
}

WRONG_PROGRAM(the_gradient_in_another_graph, "[gradients]", "'y'", "another graph") {
  const Tensor x = input({2}, f32, "x"), y = square(x, "y");
  GraphScope other;
  HERE gradients(y, x);
}

WRONG_PROGRAM(a_custom_gradient_of_another_number, "'mine'", "2", "1") {
  const Tensor x = input({2}, f32, "x");
  const Function first = [](TensorList in) { return TensorList{in[0]}; }, same = [](TensorList dy) { return dy; };
  HERE const TensorList y = custom_gradient({x, x}, first, same, "mine");
  gradients(y, x);
}

WRONG_PROGRAM(a_custom_gradient_of_another_shape, "'mine' (custom_gradient)", "'x'", "f32[2]", "f32[4]") {
  const Tensor x = input({2}, f32, "x");
  const Function same = [](TensorList in) { return in; };
  const Function twice = [](TensorList dy) { return TensorList{concat({dy[0], dy[0]}, 0)}; };
  HERE const TensorList y = custom_gradient({x}, same, twice, "mine");
  gradients(y, x);
}

WRONG_PROGRAM(a_gradient_override_that_gives_too_many, "'act'", "2", "1") {
  const Tensor x = input({2}, f32, "x");
  const GradientOverride guided("relu", "guided", [](const GradContext& c) {
    return TensorList{c.grad(0), c.grad(0)};
  });
  HERE const Tensor y = relu(x, "act");
  gradients(y, x);
}

WRONG_PROGRAM(a_cost_that_is_not_a_scalar, "[optimizer]", "'cost'", "f32[2]", "reduce_mean()") {
  const Variable w = get_variable("w", {.shape = {2}});
  HERE const Tensor cost = square(w, "cost");
  Momentum(0.1).minimize(cost);
}

WRONG_PROGRAM(a_cost_that_depends_on_no_variable, "[optimizer]", "'cost'", "none of the 1 variables") {
  get_variable("w", {.shape = {2}});
  const Tensor cost = constant(1, "cost");
  HERE Momentum(0.1).minimize(cost);
}

WRONG_PROGRAM(a_cost_that_is_null, "[optimizer]", "cost", "null Tensor") {
  get_variable("w", {.shape = {2}});
  HERE Adam(0.1).minimize(Tensor());
}

WRONG_PROGRAM(a_variable_given_twice_to_an_optimizer, "[momentum]", "'w'", "twice", "Add its gradients first") {
  const Variable w = get_variable("w", {.shape = {2}});
  HERE Momentum(0.1).apply_gradients({{w, w}, {w, w}});
}

WRONG_PROGRAM(a_gradient_that_is_null, "[adam]", "'w'", "null gradient") {
  const Variable w = get_variable("w", {.shape = {2}});
  HERE Adam(0.1).apply_gradients({{Tensor(), w}});
}

WRONG_PROGRAM(a_gradient_of_another_shape_than_its_variable, "[adam]", "'w'", "f32[2]", "'g'", "f32[3]") {
  const Variable w = get_variable("w", {.shape = {2}});
  const Tensor g = input({3}, f32, "g");
  HERE Adam(0.1).apply_gradients({{g, w}});
}

WRONG_PROGRAM(a_gradient_of_another_dtype_than_its_variable, "[momentum]", "'w'", "f32", "f64") {
  const Variable w = get_variable("w", {.shape = {2}});
  const Tensor g = input({2}, f64, "g");
  HERE Momentum(0.1).apply_gradients({{g, w}});
}

WRONG_PROGRAM(a_learning_rate_that_is_a_vector, "momentum", "rate", "f32[2]") {
  const Variable w = get_variable("w", {.shape = {2}});
  const Tensor rate = input({2}, f32, "rate");
  HERE Momentum(rate).apply_gradients({{w, w}});
}

WRONG_PROGRAM(an_optimizer_of_something_else_than_a_variable, "[momentum]", "'x'", "placeholder") {
  const Tensor x = input({2}, f32, "x");
  HERE Momentum(0.1).apply_gradients({{x, Variable(x)}});
}

WRONG_PROGRAM(an_optimizer_without_variables, "[optimizer]", "'cost'", "no variable to train") {
  const Tensor cost = input({}, f32, "cost");
  HERE Adam(0.1).minimize(cost);
}

WRONG_PROGRAM(gradients_that_were_all_dropped, "[adam]", "nothing to update", "gradient processor") {
  const Variable w = get_variable("w", {.shape = {2}});
  HERE apply_grad_processors(Adam(0.1), {ScaleGradient(".*", 0, false)})->apply_gradients({{w, w}});
}

WRONG_PROGRAM(an_option_out_of_range, "[momentum]", "momentum is 1.5", "[0, 1)") {
  HERE Momentum(0.1, {.momentum = 1.5});
}

WRONG_PROGRAM(a_decay_for_no_regular_expression, "[adamw]", "'(b'", "regular expression") {
  HERE AdamW(0.1, {.no_decay = "(b"});
}

WRONG_PROGRAM(a_schedule_of_a_vector, "[cosine_decay]", "'steps'", "i64[3]") {
  const Tensor steps = input({3}, i64, "steps");
  HERE cosine_decay(0.1, steps);
}

WRONG_PROGRAM(another_number_of_values_than_boundaries, "[piecewise_constant]", "2 values", "2 boundaries") {
  HERE piecewise_constant(get_global_step_var(), {1, 2}, {0.1, 0.2});
}

WRONG_PROGRAM(an_accumulation_inside_an_accumulation, "AccumGradOptimizer inside AccumGradOptimizer") {
  const Variable w = get_variable("w", {.shape = {2}});
  HERE AccumGradOptimizer(AccumGradOptimizer(Adam(0.1), 2), 2).apply_gradients({{w, w}});
}

}  // namespace
}  // namespace martello::testing
