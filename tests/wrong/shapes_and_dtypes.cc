#include "wrong.h"

namespace martello::testing {
namespace {

const WrongPrograms programs(
    __FILE__,
    {
        {"add_of_shapes_that_do_not_broadcast",
         [](Line& here) {
           const Tensor a = input({2, 3}, f32, "a"), b = input({4}, f32, "b");
           HERE add(a, b, "sum");
         },
         {"[add 'sum']", "[2, 3]", "[4]"}},
        {"operator_of_shapes_that_do_not_broadcast",
         [](Line& here) {
           const Tensor a = input({5, 3}, f32, "a"), b = input({5, 2}, f32, "b");
           HERE a* b;
         },
         {"[multiply 'multiply']", "[5, 3]", "[5, 2]"}},
        {"operands_of_two_dtypes",
         [](Line& here) {
           const Tensor a = input({2}, f32, "a"), b = input({2}, f64, "b");
           HERE a + b;
         },
         {"[add 'add']", "f32[2]", "f64[2]", "cast(b, f32)"}},
        {"a_number_that_is_not_of_the_dtype",
         [](Line& here) {
           const Tensor a = input({2}, i32);
           HERE a * 0.5;
         },
         {"[multiply 'multiply']", "0.5", "i32", "cast()"}},
        {"a_function_of_reals_given_integers",
         [](Line& here) {
           const Tensor a = input({2}, i32);
           HERE relu(a, "act");
         },
         {"[relu 'act']", "f32", "i32[2]"}},
        {"arithmetic_of_bools",
         [](Line& here) {
           const Tensor a = input({2}, boolean);
           HERE a + a;
         },
         {"[add 'add']", "bool[2]", "f32"}},
        {"logic_of_numbers",
         [](Line& here) {
           const Tensor a = input({2}, f32);
           HERE logical_and(a, a);
         },
         {"[logical_and 'logical_and']", "f32[2]", "bool"}},
        {"where_without_a_condition",
         [](Line& here) {
           const Tensor a = input({2}, f32);
           HERE where(a, a, a, "pick");
         },
         {"[where 'pick']", "f32[2]", "bool"}},
        {"reduction_over_an_axis_that_is_not_there",
         [](Line& here) {
           const Tensor a = input({2, 3});
           HERE reduce_sum(a, {.axes = {0, 5}}, "total");
         },
         {"[reduce_sum 'total']", "axis 5", "[2, 3]"}},
        {"reduction_over_an_axis_named_twice",
         [](Line& here) {
           const Tensor a = input({2, 3});
           HERE reduce_mean(a, {.axes = {1, -1}});
         },
         {"[reduce_mean 'reduce_mean']", "axis -1", "dimension 1", "[2, 3]"}},
        {"softmax_over_an_axis_that_is_not_there",
         [](Line& here) {
           const Tensor a = input({2, 3});
           HERE softmax(a, {.axis = -3}, "prob");
         },
         {"[softmax 'prob']", "axis -3", "[2, 3]"}},
        {"argmax_of_a_scalar",
         [](Line& here) {
           const Tensor a = input({});
           HERE argmax(a, {.axis = 0});
         },
         {"[argmax 'argmax']", "axis 0", "f32[]"}},
        {"cumsum_over_an_axis_that_is_not_there",
         [](Line& here) {
           const Tensor a = input({4});
           HERE cumsum(a, {.axis = 1});
         },
         {"[cumsum 'cumsum']", "axis 1", "[4]"}},
        {"matmul_of_sizes_that_differ",
         [](Line& here) {
           const Tensor a = input({2, 3}, f32, "a"), b = input({4, 5}, f32, "b");
           HERE matmul(a, b, "fc");
         },
         {"[matmul 'fc']", "3", "4", "[2, 3]", "[4, 5]"}},
        {"matmul_of_sizes_that_differ_once_transposed",
         [](Line& here) {
           const Tensor a = input({2, 3}, f32, "a"), b = input({3, 5}, f32, "b");
           HERE matmul(a, b, {.transpose_b = true});
         },
         {"[matmul 'matmul']", "3", "5", "[2, 3]", "[3, 5]"}},
        {"matmul_of_a_vector",
         [](Line& here) {
           const Tensor a = input({2, 3}, f32, "a"), b = input({3}, f32, "b");
           HERE matmul(a, b);
         },
         {"[matmul 'matmul']", "[2, 3]", "[3]"}},
        {"matmul_of_batches_that_differ",
         [](Line& here) {
           const Tensor a = input({7, 2, 3}, f32, "a"), b = input({6, 3, 4}, f32, "b");
           HERE matmul(a, b);
         },
         {"[matmul 'matmul']", "[7, 2, 3]", "[6, 3, 4]"}},
        {"tensordot_of_sizes_that_differ",
         [](Line& here) {
           const Tensor a = input({2, 3}, f32, "a"), b = input({4, 5}, f32, "b");
           HERE tensordot(a, b, 1, "dot");
         },
         {"'dot", "3", "4"}},
        {"bias_of_another_size",
         [](Line& here) {
           const Tensor x = input({8, 10}), b = input({11}, f32, "b");
           HERE bias_add(x, b, "fc/bias");
         },
         {"'fc/bias", "[8, 10]", "[11]"}},
        {"linear_with_a_bias_of_another_size",
         [](Line& here) {
           const Tensor x = input({8, 10}), w = input({10, 4}, f32, "w"), b = input({5}, f32, "b");
           HERE linear(x, w, b, "fc");
         },
         {"[linear 'fc']", "4", "[5]"}},
        {"add_n_of_two_shapes",
         [](Line& here) {
           const Tensor a = input({2, 3}, f32, "a"), b = input({3, 2}, f32, "b");
           HERE add_n({a, b}, "sum");
         },
         {"[add_n 'sum']", "[2, 3]", "[3, 2]"}},
        {"add_n_of_nothing",
         [](Line& here) {
           HERE add_n({}, "sum");
         },
         {"[add_n 'sum']", "at least 1", "0"}},
        {"one_hot_of_reals",
         [](Line& here) {
           const Tensor a = input({4}, f32);
           HERE one_hot(a, 10);
         },
         {"[one_hot 'one_hot']", "i32", "f32[4]"}},
        {"one_hot_of_a_negative_depth",
         [](Line& here) {
           const Tensor a = input({4}, i32);
           HERE one_hot(a, -10);
         },
         {"[one_hot 'one_hot']", "depth", "-10"}},
        {"top_k_of_more_than_there_are",
         [](Line& here) {
           const Tensor a = input({4, 3});
           HERE top_k(a, 5);
         },
         {"[top_k 'top_k']", "5", "[4, 3]"}},
        {"labels_of_another_shape",
         [](Line& here) {
           const Tensor logits = input({32, 10}, f32, "logits"), label = input({31}, i32, "label");
           HERE sparse_softmax_cross_entropy(logits, label, "loss");
         },
         {"[sparse_softmax_cross_entropy 'loss']", "logits [32, 10]", "label", "[31]"}},
        {"labels_that_are_reals",
         [](Line& here) {
           const Tensor logits = input({32, 10}, f32, "logits"), label = input({32}, f32, "label");
           HERE sparse_softmax_cross_entropy(logits, label, "loss");
         },
         {"[sparse_softmax_cross_entropy 'loss']", "i32", "f32[32]"}},
        {"gather_by_reals",
         [](Line& here) {
           const Tensor table = input({32, 10}, f32, "table"), ids = input({5}, f32, "ids");
           HERE gather(table, ids, "rows");
         },
         {"[gather 'rows']", "i32", "f32[5]"}},
        {"gather_along_an_axis_that_is_not_there",
         [](Line& here) {
           const Tensor table = input({32, 10}, f32, "table"), ids = input({5}, i32, "ids");
           HERE gather(table, ids, {.axis = 2});
         },
         {"[gather 'gather']", "axis 2", "[32, 10]"}},
        {"broadcast_to_a_smaller_shape",
         [](Line& here) {
           const Tensor x = input({4, 3});
           HERE broadcast_to(x, {4, 1});
         },
         {"[broadcast_to 'broadcast_to']", "[4, 3]", "[4, 1]"}},
        {"clip_by_a_number_of_another_dtype",
         [](Line& here) {
           const Tensor x = input({4, 3}, i32), low = input({}, f32, "low");
           HERE clip_by_value(x, low, 3, "clip");
         },
         {"'clip", "i32[4, 3]", "f32[]"}},
    });

}  // namespace
}  // namespace martello::testing
