#include "wrong.h"

namespace martello::testing {
namespace {

WRONG_PROGRAM(add_of_shapes_that_do_not_broadcast, "[add 'sum']", "[2, 3]", "[4]") {
  const Tensor a = input({2, 3}, f32, "a"), b = input({4}, f32, "b");
  HERE add(a, b, "sum");
}

WRONG_PROGRAM(operator_of_shapes_that_do_not_broadcast, "[multiply 'multiply']", "[5, 3]", "[5, 2]") {
  const Tensor a = input({5, 3}, f32, "a"), b = input({5, 2}, f32, "b");
  HERE a* b;
}

WRONG_PROGRAM(operands_of_two_dtypes, "[add 'add']", "f32[2]", "f64[2]", "cast(b, f32)") {
  const Tensor a = input({2}, f32, "a"), b = input({2}, f64, "b");
  HERE a + b;
}

WRONG_PROGRAM(a_number_that_is_not_of_the_dtype, "[multiply 'multiply']", "0.5", "i32", "cast()") {
  const Tensor a = input({2}, i32);
  HERE a * 0.5;
}

WRONG_PROGRAM(a_function_of_reals_given_integers, "[relu 'act']", "f32", "i32[2]") {
  const Tensor a = input({2}, i32);
  HERE relu(a, "act");
}

WRONG_PROGRAM(arithmetic_of_bools, "[add 'add']", "bool[2]", "f32") {
  const Tensor a = input({2}, boolean);
  HERE a + a;
}

WRONG_PROGRAM(logic_of_numbers, "[logical_and 'logical_and']", "f32[2]", "bool") {
  const Tensor a = input({2}, f32);
  HERE logical_and(a, a);
}

WRONG_PROGRAM(where_without_a_condition, "[where 'pick']", "f32[2]", "bool") {
  const Tensor a = input({2}, f32);
  HERE where(a, a, a, "pick");
}

WRONG_PROGRAM(reduction_over_an_axis_that_is_not_there, "[reduce_sum 'total']", "axis 5", "[2, 3]") {
  const Tensor a = input({2, 3});
  HERE reduce_sum(a, {.axes = {0, 5}}, "total");
}

WRONG_PROGRAM(reduction_over_an_axis_named_twice, "[reduce_mean 'reduce_mean']", "axis -1", "dimension 1", "[2, 3]") {
  const Tensor a = input({2, 3});
  HERE reduce_mean(a, {.axes = {1, -1}});
}

WRONG_PROGRAM(softmax_over_an_axis_that_is_not_there, "[softmax 'prob']", "axis -3", "[2, 3]") {
  const Tensor a = input({2, 3});
  HERE softmax(a, {.axis = -3}, "prob");
}

WRONG_PROGRAM(argmax_of_a_scalar, "[argmax 'argmax']", "axis 0", "f32[]") {
  const Tensor a = input({});
  HERE argmax(a, {.axis = 0});
}

WRONG_PROGRAM(cumsum_over_an_axis_that_is_not_there, "[cumsum 'cumsum']", "axis 1", "[4]") {
  const Tensor a = input({4});
  HERE cumsum(a, {.axis = 1});
}

WRONG_PROGRAM(matmul_of_sizes_that_differ, "[matmul 'fc']", "3", "4", "[2, 3]", "[4, 5]") {
  const Tensor a = input({2, 3}, f32, "a"), b = input({4, 5}, f32, "b");
  HERE matmul(a, b, "fc");
}

WRONG_PROGRAM(matmul_of_sizes_that_differ_once_transposed, "[matmul 'matmul']", "3", "5", "[2, 3]", "[3, 5]") {
  const Tensor a = input({2, 3}, f32, "a"), b = input({3, 5}, f32, "b");
  HERE matmul(a, b, {.transpose_b = true});
}

WRONG_PROGRAM(matmul_of_a_vector, "[matmul 'matmul']", "[2, 3]", "[3]") {
  const Tensor a = input({2, 3}, f32, "a"), b = input({3}, f32, "b");
  HERE matmul(a, b);
}

WRONG_PROGRAM(matmul_of_batches_that_differ, "[matmul 'matmul']", "[7, 2, 3]", "[6, 3, 4]") {
  const Tensor a = input({7, 2, 3}, f32, "a"), b = input({6, 3, 4}, f32, "b");
  HERE matmul(a, b);
}

WRONG_PROGRAM(tensordot_of_sizes_that_differ, "'dot", "3", "4") {
  const Tensor a = input({2, 3}, f32, "a"), b = input({4, 5}, f32, "b");
  HERE tensordot(a, b, 1, "dot");
}

WRONG_PROGRAM(bias_of_another_size, "'fc/bias", "[8, 10]", "[11]") {
  const Tensor x = input({8, 10}), b = input({11}, f32, "b");
  HERE bias_add(x, b, "fc/bias");
}

WRONG_PROGRAM(linear_with_a_bias_of_another_size, "[linear 'fc']", "4", "[5]") {
  const Tensor x = input({8, 10}), w = input({10, 4}, f32, "w"), b = input({5}, f32, "b");
  HERE linear(x, w, b, "fc");
}

WRONG_PROGRAM(add_n_of_two_shapes, "[add_n 'sum']", "[2, 3]", "[3, 2]") {
  const Tensor a = input({2, 3}, f32, "a"), b = input({3, 2}, f32, "b");
  HERE add_n({a, b}, "sum");
}

WRONG_PROGRAM(add_n_of_nothing, "[add_n 'sum']", "at least 1", "0") { HERE add_n({}, "sum"); }

WRONG_PROGRAM(one_hot_of_reals, "[one_hot 'one_hot']", "i32", "f32[4]") {
  const Tensor a = input({4}, f32);
  HERE one_hot(a, 10);
}

WRONG_PROGRAM(one_hot_of_a_negative_depth, "[one_hot 'one_hot']", "depth", "-10") {
  const Tensor a = input({4}, i32);
  HERE one_hot(a, -10);
}

WRONG_PROGRAM(top_k_of_more_than_there_are, "[top_k 'top_k']", "5", "[4, 3]") {
  const Tensor a = input({4, 3});
  HERE top_k(a, 5);
}

WRONG_PROGRAM(labels_of_another_shape, "[sparse_softmax_cross_entropy 'loss']", "logits [32, 10]", "label", "[31]") {
  const Tensor logits = input({32, 10}, f32, "logits"), label = input({31}, i32, "label");
  HERE sparse_softmax_cross_entropy(logits, label, "loss");
}

WRONG_PROGRAM(labels_that_are_reals, "[sparse_softmax_cross_entropy 'loss']", "i32", "f32[32]") {
  const Tensor logits = input({32, 10}, f32, "logits"), label = input({32}, f32, "label");
  HERE sparse_softmax_cross_entropy(logits, label, "loss");
}

WRONG_PROGRAM(gather_by_reals, "[gather 'rows']", "i32", "f32[5]") {
  const Tensor table = input({32, 10}, f32, "table"), ids = input({5}, f32, "ids");
  HERE gather(table, ids, "rows");
}

WRONG_PROGRAM(gather_along_an_axis_that_is_not_there, "[gather 'gather']", "axis 2", "[32, 10]") {
  const Tensor table = input({32, 10}, f32, "table"), ids = input({5}, i32, "ids");
  HERE gather(table, ids, {.axis = 2});
}

WRONG_PROGRAM(broadcast_to_a_smaller_shape, "[broadcast_to 'broadcast_to']", "[4, 3]", "[4, 1]") {
  const Tensor x = input({4, 3});
  HERE broadcast_to(x, {4, 1});
}

WRONG_PROGRAM(clip_by_a_number_of_another_dtype, "'clip", "i32[4, 3]", "f32[]") {
  const Tensor x = input({4, 3}, i32), low = input({}, f32, "low");
  HERE clip_by_value(x, low, 3, "clip");
}

}  // namespace
}  // namespace martello::testing
