#include "wrong.h"

namespace martello::testing {
namespace {

constexpr CollectionKey<Tensor> kAsTensors{"mine"};
constexpr CollectionKey<Operation> kAsOperations{"mine"};

WRONG_PROGRAM(a_node_after_finalize, "[relu 'act']", "after finalize()") {
  const Tensor x = input({2});
  Graph::current().finalize();
  HERE relu(x, "act");
}

WRONG_PROGRAM(a_variable_after_finalize, "[variable 'w']", "after finalize()") {
  Graph::current().finalize();
  HERE get_variable("w", {.shape = {2}});
}

WRONG_PROGRAM(a_control_edge_after_finalize, "[add_control_dependency 'y']", "after finalize()") {
  const Tensor x = input({2}, f32, "x"), y = relu(x, "y");
  Graph::current().finalize();
  HERE add_control_dependency(y.op(), x.op());
}

WRONG_PROGRAM(a_collection_changed_after_finalize, "[collection 'losses']", "after finalize()") {
  const Tensor x = input({2});
  Graph::current().finalize();
  HERE Graph::current().collections().add(kLosses, x);
}

WRONG_PROGRAM(a_collection_of_two_kinds, "[collection 'mine']", "holds Tensors", "take Operations") {
  const Tensor x = input({2});
  Graph::current().collections().add(kAsTensors, x);
  HERE Graph::current().collections().add(kAsOperations, x.op());
}

WRONG_PROGRAM(a_cycle_of_control_edges, "[relu 'a']", "cycle", "'a', 'b'", "Remove a control dependency") {
  HERE const Tensor a = relu(constant(1), "a");
  const Tensor b = exp(a, "b");
  add_control_dependency(a.op(), b.op());
  Session().eval(b);
}

WRONG_PROGRAM(a_node_that_waits_for_itself, "[relu 'a']", "cycle", "Remove a control dependency") {
  HERE const Tensor a = relu(constant(1), "a");
  add_control_dependency(a.op(), a.op());
  Session().eval(a);
}

WRONG_PROGRAM(branches_of_two_dtypes, "[cond 'choice']", "f32[2]", "f64[2]") {
  const Tensor p = input({}, boolean, "p"), x = input({2});
  const auto then_fn = [&] { return x; };
  const auto else_fn = [&] { return cast(x, f64); };
  HERE cond(p, then_fn, else_fn, "choice");
}

WRONG_PROGRAM(branches_of_two_shapes, "[cond 'choice']", "f32[2]", "f32[4]") {
  const Tensor p = input({}, boolean, "p"), x = input({2});
  const auto then_fn = [&] { return x; };
  const auto else_fn = [&] { return concat({x, x}, 0); };
  HERE cond(p, then_fn, else_fn, "choice");
}

WRONG_PROGRAM(branches_of_two_lengths, "[cond 'choice']", "gives f32[2]", "gives (f32[2], f32[2])") {
  const Tensor p = input({}, boolean, "p"), x = input({2});
  const std::function<TensorList()> one = [&] { return TensorList{x}; }, two = [&] { return TensorList{x, x}; };
  HERE cond(p, one, two, "choice");
}

WRONG_PROGRAM(a_branch_that_gives_nothing, "[cond 'choice']", "null Tensor") {
  const Tensor p = input({}, boolean, "p"), x = input({2});
  const auto then_fn = [&] { return x; };
  const auto else_fn = [&] { return Tensor(); };
  HERE cond(p, then_fn, else_fn, "choice");
}

WRONG_PROGRAM(a_fault_inside_a_branch, "[matmul 'inner']", "3", "2", "[2, 3]") {
  const Tensor p = input({}, boolean, "p"), x = input({2, 3});
  const auto bad = [&] { HERE return matmul(x, x, "inner"); };
  cond(
      p, [&] { return matmul(x, transpose(x)); }, bad, "choice");
}

WRONG_PROGRAM(a_condition_that_is_a_number, "[cond 'cond']", "bool", "f32[]") {
  const Tensor p = input({}, f32, "p"), x = input({2});
  const auto then_fn = [&] { return x; };
  const auto else_fn = [&] { return x; };
  HERE cond(p, then_fn, else_fn);
}

WRONG_PROGRAM(a_condition_that_is_a_vector, "[cond 'cond']", "rank 0", "bool[3]") {
  const Tensor p = input({3}, boolean, "p"), x = input({2});
  const auto then_fn = [&] { return x; };
  const auto else_fn = [&] { return x; };
  HERE cond(p, then_fn, else_fn);
}

WRONG_PROGRAM(a_host_function_that_gives_another_number, "[host_call 'call']", "1", "0") {
  const HostFunction::Fn fn = [](const HostTensors&) { return HostTensors(); };
  HERE const Tensor y = host_call({constant(1)}, {{{2}, f32, "y"}}, fn, "call")[0];
  Session().eval(y);
}

WRONG_PROGRAM(a_host_function_that_gives_another_dtype, "[host_call 'call']", "f32[2]", "i32[2]") {
  const HostFunction::Fn fn = [](const HostTensors&) { return HostTensors{HostTensor({2}, i32)}; };
  HERE const Tensor y = host_call({constant(1)}, {{{2}, f32, "y"}}, fn, "call")[0];
  Session().eval(y);
}

WRONG_PROGRAM(a_host_function_that_gives_another_shape, "[host_call 'call']", "f32[2]", "f32[3]") {
  const HostFunction::Fn fn = [](const HostTensors&) { return HostTensors{HostTensor({3}, f32)}; };
  HERE const Tensor y = host_call({constant(1)}, {{{2}, f32, "y"}}, fn, "call")[0];
  Session().eval(y);
}

WRONG_PROGRAM(a_host_function_that_throws, "[host_call 'call']", "disk full") {
  const HostFunction::Fn fn = [](const HostTensors&) -> HostTensors { throw std::runtime_error("disk full"); };
  HERE const Tensor y = host_call({constant(1)}, {{{2}, f32, "y"}}, fn, "call")[0];
  Session().eval(y);
}

WRONG_PROGRAM(a_host_call_of_a_null_tensor, "[host_call 'call']", "null Tensor") {
  const HostFunction::Fn fn = [](const HostTensors& in) { return in; };
  HERE host_call({Tensor()}, {{{2}, f32, "y"}}, fn, "call");
}

WRONG_PROGRAM(an_assertion_that_does_not_hold, "[assert_that 'check_rate']", "the rate is too large", "2") {
  const Tensor rate = constant(2, "rate");
  HERE const Operation check = assert_that(rate < 1, "the rate is too large", {rate}, "check_rate");
  Session().run(check);
}

WRONG_PROGRAM(a_number_that_is_not_finite, "[check_numerics 'check']", "loss went wrong", "1", "-Inf") {
  const Tensor x = log(constant(HostTensor::of<float>({1, 0})));
  HERE const Tensor y = check_numerics(x, "loss went wrong", "check");
  Session().eval(y);
}

WRONG_PROGRAM(a_division_by_zero, "[divide 'ratio']", "zero") {
  const Tensor a = constant(HostTensor::of<int32_t>({1, 7}), "a"), b = constant(HostTensor::of<int32_t>({1, 0}), "b");
  HERE const Tensor y = divide(a, b, "ratio");
  Session().eval(y);
}

WRONG_PROGRAM(a_label_out_of_range, "[sparse_softmax_cross_entropy 'loss']", "10", "[0, 10)") {
  const Tensor logits = constant(HostTensor({2, 10}, f32)), label = constant(HostTensor::of<int32_t>({3, 10}));
  HERE const Tensor loss = sparse_softmax_cross_entropy(logits, label, "loss");
  Session().eval(loss);
}

WRONG_PROGRAM(an_index_out_of_range, "[gather 'rows']", "-1", "[0, 4)") {
  const Tensor table = constant(HostTensor({4, 2}, f32)), ids = input({2}, i64, "ids");
  HERE const Tensor rows = gather(table, ids, "rows");
  Session().eval(rows, {{ids, HostTensor::of<int64_t>({3, -1})}});
}

WRONG_PROGRAM(an_index_list_out_of_range, "[gather_nd 'picked']", "2", "[0, 2)") {
  const Tensor x = constant(HostTensor({4, 2}, f32)), ids = constant(HostTensor::of<int32_t>({3, 2}, {1, 2}));
  HERE const Tensor y = gather_nd(x, ids, "picked");
  Session().eval(y);
}

WRONG_PROGRAM(an_order_that_is_not_one, "[invert_permutation 'inverse']", "2") {
  const Tensor p = constant(HostTensor::of<int32_t>({0, 2, 2}));
  HERE const Tensor y = invert_permutation(p, "inverse");
  Session().eval(y);
}

WRONG_PROGRAM(a_seed_after_a_random_op, "[graph]", "7", "'noise'", "Set the seed first") {
  random_uniform({2}, {}, "noise");
  HERE Graph::current().set_seed(7);
}

WRONG_PROGRAM(a_range_that_is_empty, "[random_uniform 'noise']", "1", "0") {
  HERE random_uniform({2}, {.low = 1, .high = 0}, "noise");
}

WRONG_PROGRAM(a_probability_above_1, "[random_bernoulli 'coin']", "1.5", "1") {
  HERE random_bernoulli({2}, {.p = 1.5}, "coin");
}

WRONG_PROGRAM(a_device_without_a_kernel, "[relu 'act']", "cuda", "CPU only", "cpu:0") {
  const DeviceScope on("cuda:0");
  HERE const Tensor y = relu(constant(1), "act");
  Session().eval(y);
}

WRONG_PROGRAM(a_device_beyond_the_last, "[device]", "'cpu:64'", "cpu:63") { HERE const DeviceScope on("cpu:64"); }

WRONG_PROGRAM(an_op_given_another_number_of_inputs, "[add 'sum']", "2 inputs", "1") {
  const Tensor x = input({2});
  HERE add_operation(op_add, {x}, Attrs(), "sum");
}

WRONG_PROGRAM(an_op_given_attributes_of_another, "[softmax 'prob']", "attributes") {
  const Tensor x = input({2});
  HERE add_operation(op_softmax, {x}, Attrs(CumsumAttrs{}), "prob");
}

WRONG_PROGRAM(a_sum_of_rows_that_depend_on_different_data, "'sum'", "0 has 2", "1") {
  const Tensor x = constant(HostTensor({3, 2}, f32)), m = input({3}, boolean, "m"), n = input({3}, boolean, "n");
  const Tensor a = boolean_mask(x, m, "a"), b = boolean_mask(x, n, "b");
  HERE const Tensor y = add(a, b, "sum");
  Session().eval(y, {{m, HostTensor::of<bool>({true, true, false})}, {n, HostTensor::of<bool>({true, false, false})}});
}

}  // namespace
}  // namespace martello::testing
