#include "wrong.h"

namespace martello::testing {
namespace {

Variable weight(Shape shape = {2, 3}, Name name = "w") { return get_variable(name, {.shape = std::move(shape)}); }

const WrongPrograms programs(
    __FILE__,
    {
        {"a_second_variable_of_one_name",
         [](Line& here) {
           VariableScope scope("fc");
           get_variable("w", {.shape = {2}});
           HERE get_variable("w", {.shape = {2}});
         },
         {"[get_variable 'fc/w']", "exists already", "reuse=no", "Reuse::yes"}},
        {"a_missing_variable_to_share",
         [](Line& here) {
           get_variable("weight", {.shape = {2}});
           VariableScope scope("", Reuse::yes);
           HERE get_variable("weights", {.shape = {2}});
         },
         {"[get_variable 'weights']", "reuse=yes", "Did you mean 'weight'", "Reuse::automatic"}},
        {"a_shared_variable_of_another_shape",
         [](Line& here) {
           get_variable("w", {.shape = {512, 10}});
           VariableScope scope("", Reuse::yes);
           HERE get_variable("w", {.shape = {512, 100}});
         },
         {"[get_variable 'w']", "[512, 10]", "[512, 100]", "another variable scope"}},
        {"a_shared_variable_of_another_dtype",
         [](Line& here) {
           get_variable("w", {.shape = {2}, .dtype = f64});
           VariableScope scope("", Reuse::automatic);
           HERE get_variable("w", {.shape = {2}});
         },
         {"[get_variable 'w']", "f64[2]", "f32[2]"}},
        {"a_variable_with_the_name_of_a_node",
         [](Line& here) {
           input({2}, f32, "w");
           VariableScope scope("", Reuse::automatic);
           HERE get_variable("w", {.shape = {2}});
         },
         {"[get_variable 'w']", "placeholder", "another name"}},
        {"a_variable_with_a_bad_name",
         [](Line& here) {
           HERE get_variable("w:0", {.shape = {2}});
         },
         {"[get_variable \"w:0\"]", "colon"}},
        {"a_variable_of_unknown_size",
         [](Line& here) {
           HERE get_variable("w", {.shape = {kUnknown, 3}});
         },
         {"[get_variable 'w']", "[?, 3]", "Give every dimension a size"}},
        {"a_trainable_variable_of_integers",
         [](Line& here) {
           HERE get_variable("n", {.shape = {3}, .dtype = i32});
         },
         {"[get_variable 'n']", "i32", "trainable"}},
        {"an_initializer_of_another_shape",
         [](Line& here) {
           const Initializer init = [](Shape, DType dtype) { return ones({3, 2}, dtype); };
           HERE get_variable("w", {.shape = {2, 3}, .initializer = init});
         },
         {"[get_variable 'w']", "f32[2, 3]", "f32[3, 2]"}},
        {"an_initial_value_of_another_shape",
         [](Line& here) {
           const auto init = constant_init(HostTensor::of<float>({1, 2}));
           HERE get_variable("w", {.shape = {3}, .initializer = init});
         },
         {"[constant_init]", "variable 'w'", "f32[3]", "f32[2]"}},
        {"an_initializer_that_uses_an_input",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x");
           HERE get_variable("w", {.shape = {2}, .initializer = [=](Shape, DType) { return x * 2; }});
         },
         {"[get_variable 'w']", "'x'", "constants and random ops only"}},
        {"an_initializer_that_gives_nothing",
         [](Line& here) {
           HERE get_variable("w", {.shape = {2}, .initializer = [](Shape, DType) { return Tensor(); }});
         },
         {"[get_variable 'w']", "null Tensor"}},
        {"a_regularizer_that_gives_nothing",
         [](Line& here) {
           HERE get_variable("w", {.shape = {2}, .regularizer = [](Variable) { return Tensor(); }});
         },
         {"[get_variable 'w']", "regularizer", "null Tensor"}},
        {"a_getter_that_gives_nothing",
         [](Line& here) {
           const VariableGetterScope getter([](const NextGetter&, const std::string&, const VariableOptions&) { return Variable(); });
           HERE get_variable("w", {.shape = {2}});
         },
         {"[get_variable 'w']", "getter", "null"}},
        {"a_random_initial_value_of_integers",
         [](Line& here) {
           HERE get_variable("w", {.shape = {2}, .dtype = i32, .initializer = random_normal_init(), .trainable = false});
         },
         {"'w", "i32"}},
        {"an_assign_of_another_shape",
         [](Line& here) {
           const Variable w = weight();
           const Tensor x = input({3, 2});
           HERE assign(w, x, "set_w");
         },
         {"[assign 'set_w']", "f32[2, 3]", "f32[3, 2]"}},
        {"an_assign_of_another_dtype",
         [](Line& here) {
           const Variable w = weight();
           const Tensor x = input({2, 3}, f64);
           HERE assign_add(w, x);
         },
         {"[assign_add 'assign_add']", "f32[2, 3]", "f64[2, 3]"}},
        {"an_assign_to_something_else_than_a_variable",
         [](Line& here) {
           const Tensor x = input({2, 3});
           HERE assign(Variable(x), x);
         },
         {"[assign 'assign']", "'x'", "placeholder"}},
        {"an_assign_to_nothing",
         [](Line& here) {
           const Tensor x = input({2, 3});
           HERE assign(Variable(), x);
         },
         {"[assign 'assign']", "null"}},
        {"two_assigns_of_one_variable",
         [](Line& here) {
           const Variable w = weight();
           const Operation first = assign(w, zeros({2, 3}), "first");
           HERE const Operation second = assign(w, ones({2, 3}), "second");
           Session().run({first, second});
         },
         {"[assign 'second']", "'first'", "'w'", "ControlDependencies"}},
        {"two_assigns_of_which_a_third_says_nothing",
         [](Line& here) {
           const Variable w = weight();
           const Operation first = assign(w, zeros({2, 3}), "first");
           const Operation common = assign(w, ones({2, 3}), "common");
           HERE const Operation last = assign(w, ones({2, 3}), "last");
           add_control_dependency(first, common);
           add_control_dependency(last, common);
           Session().run({first, common, last});
         },
         {"[assign 'last']", "'first'", "'w'", "ControlDependencies"}},
        {"a_write_in_a_branch",
         [](Line& here) {
           const Variable w = weight();
           const Tensor p = input({}, boolean, "p");
           const auto branch = [&] {
             const ControlDependencies after({assign(w, zeros({2, 3}), "reset")});
             return identity(w);
           };
           HERE cond(p, branch, [&] { return identity(w); });
         },
         {"[cond 'cond']", "'reset'", "'w'"}},
        {"a_fed_variable_that_is_written",
         [](Line& here) {
           const Variable w = weight();
           HERE const Operation set = assign(w, zeros({2, 3}), "reset");
           Session().run(set, {{w, HostTensor({2, 3}, f32)}});
         },
         {"[assign 'reset']", "'w'", "fed"}},
        {"rows_written_to_a_scalar",
         [](Line& here) {
           const Variable w = weight({});
           const Tensor ids = input({4}, i32, "ids");
           HERE scatter_add(w, ids, 1.0);
         },
         {"[scatter_add 'scatter_add']", "f32[]"}},
        {"rows_written_with_values_of_another_shape",
         [](Line& here) {
           const Variable w = weight({10, 3});
           const Tensor ids = input({4}, i32, "ids"), values = input({4, 2}, f32, "values");
           HERE scatter_add(w, ids, values);
         },
         {"[scatter_add 'scatter_add']", "[10, 3]", "[4, 2]"}},
        {"rows_written_that_are_not_there",
         [](Line& here) {
           const Variable w = weight({10, 3});
           const Tensor ids = constant(HostTensor::of<int32_t>({3, 10}), "ids");
           HERE const Operation set = scatter_assign(w, ids, 0.0, "mark");
           Session().run(set);
         },
         {"'mark", "10", "[0, 10)"}},
        {"a_variable_set_to_another_shape",
         [](Line& here) {
           Session session(Graph::current());
           const Variable w = weight({2, 3});
           HERE session.set(w, HostTensor({3}, f32));
         },
         {"[variable 'w']", "f32[2, 3]", "f32[3]"}},
        {"a_value_set_that_is_no_variable",
         [](Line& here) {
           HERE const Tensor x = input({2});
           Session().set(x, HostTensor({2}, f32));
         },
         {"[session]", "'x'", "placeholder", "not a variable"}},
        {"a_variable_that_is_not_there",
         [](Line& here) {
           weight({2, 3}, "fc/w");
           Session session;
           HERE session.get("w");
         },
         {"[graph]", "'w'", "Did you mean 'fc/w'"}},
    });

}  // namespace
}  // namespace martello::testing
