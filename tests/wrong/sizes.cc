#include "wrong.h"

namespace martello::testing {
namespace {

constexpr int64_t kHuge = int64_t{1} << 40;

WRONG_PROGRAM(an_input_of_more_elements_than_fit, "[placeholder 'x']", "[1099511627776, 1099511627776]", "too large") {
  HERE placeholder({kHuge, kHuge}, f32, "x");
}

WRONG_PROGRAM(an_input_of_more_bytes_than_fit, "[placeholder 'x']", "[2305843009213693952]", "too large") {
  HERE placeholder({int64_t{1} << 61}, f64, "x");
}

WRONG_PROGRAM(a_negative_size, "[placeholder 'x']", "-7", "kUnknown") { HERE placeholder({2, -7}, f32, "x"); }

WRONG_PROGRAM(a_product_that_does_not_fit, "[add 'sum']", "[1099511627776, 1099511627776]", "too large") {
  const Tensor a = input({kHuge, 1}, f32, "a"), b = input({1, kHuge}, f32, "b");
  HERE add(a, b, "sum");
}

WRONG_PROGRAM(a_matrix_that_does_not_fit, "[matmul 'outer']", "[1099511627776, 1099511627776]", "too large") {
  const Tensor a = input({kHuge, 1}, f32, "a");
  HERE matmul(a, a, {.transpose_b = true}, "outer");
}

WRONG_PROGRAM(a_sum_of_sizes_that_does_not_fit, "[concat 'all']", "2305843009213693952") {
  const Tensor a = input({int64_t{1} << 61, 0}, u8, "a");
  HERE concat({a, a, a, a}, 0, "all");
}

WRONG_PROGRAM(a_tile_that_does_not_fit, "[tile 'many']", "1099511627776") {
  const Tensor a = input({kHuge, 0}, f32, "a");
  HERE tile(a, {kHuge, 1}, "many");
}

WRONG_PROGRAM(a_padding_that_does_not_fit, "[pad 'wide']", "4611686018427387904") {
  const Tensor a = input({5}, f32, "a");
  HERE pad(a, {.before = {int64_t{1} << 62}, .after = {int64_t{1} << 62}}, "wide");
}

WRONG_PROGRAM(a_reshape_whose_sizes_do_not_fit, "[reshape 'cube']", "1099511627776", "[4]") {
  const Tensor a = input({4}, f32, "a");
  HERE reshape(a, {kHuge, kHuge, kHuge}, "cube");
}

WRONG_PROGRAM(a_one_hot_that_does_not_fit, "[one_hot 'classes']", "1099511627776", "too large") {
  const Tensor a = input({kHuge}, i32, "a");
  HERE one_hot(a, kHuge, {}, "classes");
}

WRONG_PROGRAM(a_constant_larger_than_any_machine, "'table'", "4503599627370496 bytes") {
  HERE const Tensor x = zeros({kHuge, 1024}, f32, "table");
  Session().eval(x);
}

WRONG_PROGRAM(a_variable_larger_than_any_machine, "[variable 'w']", "4503599627370496 bytes") {
  HERE const Variable w = get_variable("w", {.shape = {kHuge, 1024}});
  Session().get(w);
}

WRONG_PROGRAM(a_run_larger_than_any_machine, "'y'", "4503599627370496") {
  const Tensor x = input({}, f32, "x");
  HERE const Tensor y = broadcast_to(x, {kHuge, 1024}, "y");
  Session().eval(reduce_sum(top_k(y, 3).values), {{x, 1.0f}});
}

WRONG_PROGRAM(a_tensor_with_a_negative_size, "[host_tensor]", "-3") { HostTensor({2, -3}, f32); }

WRONG_PROGRAM(a_tensor_larger_than_any_machine, "4503599627370496 bytes") { HostTensor({kHuge, 1024}, f32); }

WRONG_PROGRAM(a_matrix_of_a_negative_size, "[eye 'eye']", "-3") { HERE eye(-3); }

WRONG_PROGRAM(random_numbers_of_a_negative_size, "[random_normal 'noise']", "-3") {
  HERE random_normal({2, -3}, {}, "noise");
}

}  // namespace
}  // namespace martello::testing
