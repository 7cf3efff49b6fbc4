#include "wrong.h"

namespace martello::testing {
namespace {

constexpr CollectionKey<Tensor> kAsTensors{"mine"};
constexpr CollectionKey<Operation> kAsOperations{"mine"};

const WrongPrograms programs(
    __FILE__,
    {
        {"a_node_after_finalize",
         [](Line& here) {
           const Tensor x = input({2});
           Graph::current().finalize();
           HERE relu(x, "act");
         },
         {"[relu 'act']", "after finalize()"}},
        {"a_variable_after_finalize",
         [](Line& here) {
           Graph::current().finalize();
           HERE get_variable("w", {.shape = {2}});
         },
         {"[variable 'w']", "after finalize()"}},
        {"a_control_edge_after_finalize",
         [](Line& here) {
           const Tensor x = input({2}, f32, "x"), y = relu(x, "y");
           Graph::current().finalize();
           HERE add_control_dependency(y.op(), x.op());
         },
         {"[add_control_dependency 'y']", "after finalize()"}},
        {"a_collection_changed_after_finalize",
         [](Line& here) {
           const Tensor x = input({2});
           Graph::current().finalize();
           HERE Graph::current().collections().add(kLosses, x);
         },
         {"[collection 'losses']", "after finalize()"}},
        {"a_collection_of_two_kinds",
         [](Line& here) {
           const Tensor x = input({2});
           Graph::current().collections().add(kAsTensors, x);
           HERE Graph::current().collections().add(kAsOperations, x.op());
         },
         {"[collection 'mine']", "holds Tensors", "take Operations"}},
        {"a_cycle_of_control_edges",
         [](Line& here) {
           HERE const Tensor a = relu(constant(1), "a");
           const Tensor b = exp(a, "b");
           add_control_dependency(a.op(), b.op());
           Session().eval(b);
         },
         {"[relu 'a']", "cycle", "'a', 'b'", "Remove a control dependency"}},
        {"a_node_that_waits_for_itself",
         [](Line& here) {
           HERE const Tensor a = relu(constant(1), "a");
           add_control_dependency(a.op(), a.op());
           Session().eval(a);
         },
         {"[relu 'a']", "cycle", "Remove a control dependency"}},
        {"branches_of_two_dtypes",
         [](Line& here) {
           const Tensor p = input({}, boolean, "p"), x = input({2});
           HERE cond(p, [&] { return x; }, [&] { return cast(x, f64); }, "choice");
         },
         {"[cond 'choice']", "f32[2]", "f64[2]"}},
        {"branches_of_two_shapes",
         [](Line& here) {
           const Tensor p = input({}, boolean, "p"), x = input({2});
           HERE cond(p, [&] { return x; }, [&] { return concat({x, x}, 0); }, "choice");
         },
         {"[cond 'choice']", "f32[2]", "f32[4]"}},
        {"branches_of_two_lengths",
         [](Line& here) {
           const Tensor p = input({}, boolean, "p"), x = input({2});
           const std::function<TensorList()> one = [&] { return TensorList{x}; }, two = [&] { return TensorList{x, x}; };
           HERE cond(p, one, two, "choice");
         },
         {"[cond 'choice']", "gives f32[2]", "gives (f32[2], f32[2])"}},
        {"a_branch_that_gives_nothing",
         [](Line& here) {
           const Tensor p = input({}, boolean, "p"), x = input({2});
           HERE cond(p, [&] { return x; }, [&] { return Tensor(); }, "choice");
         },
         {"[cond 'choice']", "null Tensor"}},
        {"a_fault_inside_a_branch",
         [](Line& here) {
           const Tensor p = input({}, boolean, "p"), x = input({2, 3});
           const auto bad = [&] {
             HERE return matmul(x, x, "inner");
           };
           cond(p, [&] { return matmul(x, transpose(x)); }, bad, "choice");
         },
         {"[matmul 'inner']", "3", "2", "[2, 3]"}},
        {"a_condition_that_is_a_number",
         [](Line& here) {
           const Tensor p = input({}, f32, "p"), x = input({2});
           HERE cond(p, [&] { return x; }, [&] { return x; });
         },
         {"[cond 'cond']", "bool", "f32[]"}},
        {"a_condition_that_is_a_vector",
         [](Line& here) {
           const Tensor p = input({3}, boolean, "p"), x = input({2});
           HERE cond(p, [&] { return x; }, [&] { return x; });
         },
         {"[cond 'cond']", "rank 0", "bool[3]"}},
        {"a_host_function_that_gives_another_number",
         [](Line& here) {
           HERE const Tensor y = host_call({constant(1)}, {{{2}, f32, "y"}}, [](const HostTensors&) { return HostTensors(); }, "call")[0];
           Session().eval(y);
         },
         {"[host_call 'call']", "1", "0"}},
        {"a_host_function_that_gives_another_dtype",
         [](Line& here) {
           const HostFunction::Fn fn = [](const HostTensors&) { return HostTensors{HostTensor({2}, i32)}; };
           HERE const Tensor y = host_call({constant(1)}, {{{2}, f32, "y"}}, fn, "call")[0];
           Session().eval(y);
         },
         {"[host_call 'call']", "f32[2]", "i32[2]"}},
        {"a_host_function_that_gives_another_shape",
         [](Line& here) {
           const HostFunction::Fn fn = [](const HostTensors&) { return HostTensors{HostTensor({3}, f32)}; };
           HERE const Tensor y = host_call({constant(1)}, {{{2}, f32, "y"}}, fn, "call")[0];
           Session().eval(y);
         },
         {"[host_call 'call']", "f32[2]", "f32[3]"}},
        {"a_host_function_that_throws",
         [](Line& here) {
           const HostFunction::Fn fn = [](const HostTensors&) -> HostTensors { throw std::runtime_error("disk full"); };
           HERE const Tensor y = host_call({constant(1)}, {{{2}, f32, "y"}}, fn, "call")[0];
           Session().eval(y);
         },
         {"[host_call 'call']", "disk full"}},
        {"a_host_call_of_a_null_tensor",
         [](Line& here) {
           const HostFunction::Fn fn = [](const HostTensors& in) { return in; };
           HERE host_call({Tensor()}, {{{2}, f32, "y"}}, fn, "call");
         },
         {"[host_call 'call']", "null Tensor"}},
        {"an_assertion_that_does_not_hold",
         [](Line& here) {
           const Tensor rate = constant(2, "rate");
           HERE const Operation check = assert_that(rate < 1, "the rate is too large", {rate}, "check_rate");
           Session().run(check);
         },
         {"[assert_that 'check_rate']", "the rate is too large", "2"}},
        {"a_number_that_is_not_finite",
         [](Line& here) {
           const Tensor x = log(constant(HostTensor::of<float>({1, 0})));
           HERE const Tensor y = check_numerics(x, "loss went wrong", "check");
           Session().eval(y);
         },
         {"[check_numerics 'check']", "loss went wrong", "1", "-Inf"}},
        {"a_division_by_zero",
         [](Line& here) {
           const Tensor a = constant(HostTensor::of<int32_t>({1, 7}), "a"), b = constant(HostTensor::of<int32_t>({1, 0}), "b");
           HERE const Tensor y = divide(a, b, "ratio");
           Session().eval(y);
         },
         {"[divide 'ratio']", "zero"}},
        {"a_label_out_of_range",
         [](Line& here) {
           const Tensor logits = constant(HostTensor({2, 10}, f32)), label = constant(HostTensor::of<int32_t>({3, 10}));
           HERE const Tensor loss = sparse_softmax_cross_entropy(logits, label, "loss");
           Session().eval(loss);
         },
         {"[sparse_softmax_cross_entropy 'loss']", "10", "[0, 10)"}},
        {"an_index_out_of_range",
         [](Line& here) {
           const Tensor table = constant(HostTensor({4, 2}, f32)), ids = input({2}, i64, "ids");
           HERE const Tensor rows = gather(table, ids, "rows");
           Session().eval(rows, {{ids, HostTensor::of<int64_t>({3, -1})}});
         },
         {"[gather 'rows']", "-1", "[0, 4)"}},
        {"an_index_list_out_of_range",
         [](Line& here) {
           const Tensor x = constant(HostTensor({4, 2}, f32)), ids = constant(HostTensor::of<int32_t>({3, 2}, {1, 2}));
           HERE const Tensor y = gather_nd(x, ids, "picked");
           Session().eval(y);
         },
         {"[gather_nd 'picked']", "2", "[0, 2)"}},
        {"an_order_that_is_not_one",
         [](Line& here) {
           const Tensor p = constant(HostTensor::of<int32_t>({0, 2, 2}));
           HERE const Tensor y = invert_permutation(p, "inverse");
           Session().eval(y);
         },
         {"[invert_permutation 'inverse']", "2"}},
        {"a_seed_after_a_random_op",
         [](Line& here) {
           random_uniform({2}, {}, "noise");
           HERE Graph::current().set_seed(7);
         },
         {"[graph]", "7", "'noise'", "Set the seed first"}},
        {"a_range_that_is_empty",
         [](Line& here) {
           HERE random_uniform({2}, {.low = 1, .high = 0}, "noise");
         },
         {"[random_uniform 'noise']", "1", "0"}},
        {"a_probability_above_1",
         [](Line& here) {
           HERE random_bernoulli({2}, {.p = 1.5}, "coin");
         },
         {"[random_bernoulli 'coin']", "1.5", "1"}},
        {"a_device_without_a_kernel",
         [](Line& here) {
           const DeviceScope on("cuda:0");
           HERE const Tensor y = relu(constant(1), "act");
           Session().eval(y);
         },
         {"[relu 'act']", "cuda", "CPU only", "cpu:0"}},
        {"a_device_beyond_the_last",
         [](Line& here) {
           HERE const DeviceScope on("cpu:64");
         },
         {"[device]", "'cpu:64'", "cpu:63"}},
        {"an_op_given_another_number_of_inputs",
         [](Line& here) {
           const Tensor x = input({2});
           HERE add_operation(op_add, {x}, Attrs(), "sum");
         },
         {"[add 'sum']", "2 inputs", "1"}},
        {"an_op_given_attributes_of_another",
         [](Line& here) {
           const Tensor x = input({2});
           HERE add_operation(op_softmax, {x}, Attrs(CumsumAttrs{}), "prob");
         },
         {"[softmax 'prob']", "attributes"}},
        {"a_sum_of_rows_that_depend_on_different_data",
         [](Line& here) {
           const Tensor x = constant(HostTensor({3, 2}, f32)), m = input({3}, boolean, "m"), n = input({3}, boolean, "n");
           const Tensor a = boolean_mask(x, m, "a"), b = boolean_mask(x, n, "b");
           HERE const Tensor y = add(a, b, "sum");
           Session().eval(y, {{m, HostTensor::of<bool>({true, true, false})}, {n, HostTensor::of<bool>({true, false, false})}});
         },
         {"'sum'", "2 rows", "1"}},
    });

}  // namespace
}  // namespace martello::testing
