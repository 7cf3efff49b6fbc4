#include "wrong.h"

namespace martello::testing {
namespace {

Variable weight(Shape shape = {2, 3}, Name name = "w") { return get_variable(name, {.shape = std::move(shape)}); }

WRONG_PROGRAM(a_second_variable_of_one_name, "[get_variable 'fc/w']", "exists already", "reuse=no", "Reuse::yes") {
  VariableScope scope("fc");
  get_variable("w", {.shape = {2}});
  HERE get_variable("w", {.shape = {2}});
}

WRONG_PROGRAM(a_missing_variable_to_share, "[get_variable 'weights']", "reuse=yes", "Did you mean 'weight'",
              "Reuse::automatic") {
  get_variable("weight", {.shape = {2}});
  VariableScope scope("", Reuse::yes);
  HERE get_variable("weights", {.shape = {2}});
}

WRONG_PROGRAM(a_shared_variable_of_another_shape, "[get_variable 'w']", "[512, 10]", "[512, 100]",
              "another variable scope") {
  get_variable("w", {.shape = {512, 10}});
  VariableScope scope("", Reuse::yes);
  HERE get_variable("w", {.shape = {512, 100}});
}

WRONG_PROGRAM(a_shared_variable_of_another_dtype, "[get_variable 'w']", "f64[2]", "f32[2]") {
  get_variable("w", {.shape = {2}, .dtype = f64});
  VariableScope scope("", Reuse::automatic);
  HERE get_variable("w", {.shape = {2}});
}

WRONG_PROGRAM(a_variable_with_the_name_of_a_node, "[get_variable 'w']", "placeholder", "another name") {
  input({2}, f32, "w");
  VariableScope scope("", Reuse::automatic);
  HERE get_variable("w", {.shape = {2}});
}

WRONG_PROGRAM(a_variable_with_a_bad_name, "[get_variable \"w:0\"]", "colon") {
  HERE get_variable("w:0", {.shape = {2}});
}

WRONG_PROGRAM(a_variable_of_unknown_size, "[get_variable 'w']", "[?, 3]", "Give every dimension a size") {
  HERE get_variable("w", {.shape = {kUnknown, 3}});
}

WRONG_PROGRAM(a_trainable_variable_of_integers, "[get_variable 'n']", "i32", "trainable") {
  HERE get_variable("n", {.shape = {3}, .dtype = i32});
}

WRONG_PROGRAM(an_initializer_of_another_shape, "[get_variable 'w']", "f32[2, 3]", "f32[3, 2]") {
  const Initializer init = [](Shape, DType dtype) { return ones({3, 2}, dtype); };
  HERE get_variable("w", {.shape = {2, 3}, .initializer = init});
}

WRONG_PROGRAM(an_initial_value_of_another_shape, "[constant_init]", "variable 'w'", "f32[3]", "f32[2]") {
  const auto init = constant_init(HostTensor::of<float>({1, 2}));
  HERE get_variable("w", {.shape = {3}, .initializer = init});
}

WRONG_PROGRAM(an_initializer_that_uses_an_input, "[get_variable 'w']", "'x'", "constants and random ops only") {
  const Tensor x = input({2}, f32, "x");
  HERE get_variable("w", {.shape = {2}, .initializer = [=](Shape, DType) { return x * 2; }});
}

WRONG_PROGRAM(an_initializer_that_gives_nothing, "[get_variable 'w']", "null Tensor") {
  HERE get_variable("w", {.shape = {2}, .initializer = [](Shape, DType) { return Tensor(); }});
}

WRONG_PROGRAM(a_regularizer_that_gives_nothing, "[get_variable 'w']", "regularizer", "null Tensor") {
  HERE get_variable("w", {.shape = {2}, .regularizer = [](Variable) { return Tensor(); }});
}

WRONG_PROGRAM(a_getter_that_gives_nothing, "[get_variable 'w']", "getter", "null") {
  const VariableGetterScope getter(
      [](const NextGetter&, const std::string&, const VariableOptions&) { return Variable(); });
  HERE get_variable("w", {.shape = {2}});
}

WRONG_PROGRAM(a_random_initial_value_of_integers, "'w", "i32") {
  const Initializer normal = random_normal_init();
  HERE get_variable("w", {.shape = {2}, .dtype = i32, .initializer = normal, .trainable = false});
}

WRONG_PROGRAM(an_assign_of_another_shape, "[assign 'set_w']", "f32[2, 3]", "f32[3, 2]") {
  const Variable w = weight();
  const Tensor x = input({3, 2});
  HERE assign(w, x, "set_w");
}

WRONG_PROGRAM(an_assign_of_another_dtype, "[assign_add 'assign_add']", "f32[2, 3]", "f64[2, 3]") {
  const Variable w = weight();
  const Tensor x = input({2, 3}, f64);
  HERE assign_add(w, x);
}

WRONG_PROGRAM(an_assign_to_something_else_than_a_variable, "[assign 'assign']", "'x'", "placeholder") {
  const Tensor x = input({2, 3});
  HERE assign(Variable(x), x);
}

WRONG_PROGRAM(an_assign_to_nothing, "[assign 'assign']", "null") {
  const Tensor x = input({2, 3});
  HERE assign(Variable(), x);
}

WRONG_PROGRAM(two_assigns_of_one_variable, "[assign 'second']", "'first'", "'w'", "ControlDependencies") {
  const Variable w = weight();
  const Operation first = assign(w, zeros({2, 3}), "first");
  HERE const Operation second = assign(w, ones({2, 3}), "second");
  Session().run({first, second});
}

WRONG_PROGRAM(two_assigns_of_which_a_third_says_nothing, "[assign 'last']", "'first'", "'w'", "ControlDependencies") {
  const Variable w = weight();
  const Operation first = assign(w, zeros({2, 3}), "first");
  const Operation common = assign(w, ones({2, 3}), "common");
  HERE const Operation last = assign(w, ones({2, 3}), "last");
  add_control_dependency(first, common);
  add_control_dependency(last, common);
  Session().run({first, common, last});
}

WRONG_PROGRAM(a_write_in_a_branch, "[cond 'cond']", "'reset'", "'w'") {
  const Variable w = weight();
  const Tensor p = input({}, boolean, "p");
  const auto branch = [&] {
    const ControlDependencies after({assign(w, zeros({2, 3}), "reset")});
    return identity(w);
  };
  HERE cond(p, branch, [&] { return identity(w); });
}

WRONG_PROGRAM(a_fed_variable_that_is_written, "[assign 'reset']", "'w'", "fed") {
  const Variable w = weight();
  HERE const Operation set = assign(w, zeros({2, 3}), "reset");
  Session().run(set, {{w, HostTensor({2, 3}, f32)}});
}

WRONG_PROGRAM(rows_written_to_a_scalar, "[scatter_add 'scatter_add']", "f32[]") {
  const Variable w = weight({});
  const Tensor ids = input({4}, i32, "ids");
  HERE scatter_add(w, ids, 1.0);
}

WRONG_PROGRAM(rows_written_with_values_of_another_shape, "[scatter_add 'scatter_add']", "[10, 3]", "[4, 2]") {
  const Variable w = weight({10, 3});
  const Tensor ids = input({4}, i32, "ids"), values = input({4, 2}, f32, "values");
  HERE scatter_add(w, ids, values);
}

WRONG_PROGRAM(rows_written_that_are_not_there, "'mark", "10", "[0, 10)") {
  const Variable w = weight({10, 3});
  const Tensor ids = constant(HostTensor::of<int32_t>({3, 10}), "ids");
  HERE const Operation set = scatter_assign(w, ids, 0.0, "mark");
  Session().run(set);
}

WRONG_PROGRAM(a_variable_set_to_another_shape, "[variable 'w']", "f32[2, 3]", "f32[3]") {
  Session session(Graph::current());
  const Variable w = weight({2, 3});
  HERE session.set(w, HostTensor({3}, f32));
}

WRONG_PROGRAM(a_value_set_that_is_no_variable, "[session]", "'x'", "placeholder", "not a variable") {
  HERE const Tensor x = input({2});
  Session().set(x, HostTensor({2}, f32));
}

WRONG_PROGRAM(a_variable_that_is_not_there, "[graph]", "'w'", "Did you mean 'fc/w'") {
  weight({2, 3}, "fc/w");
  Session session;
  HERE session.get("w");
}

}  // namespace
}  // namespace martello::testing
