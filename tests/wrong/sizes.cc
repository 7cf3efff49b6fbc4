#include "wrong.h"

namespace martello::testing {
namespace {

constexpr int64_t kHuge = int64_t{1} << 40;

const WrongPrograms programs(
    __FILE__,
    {
        {"an_input_of_more_elements_than_fit",
         [](Line& here) {
           HERE placeholder({kHuge, kHuge}, f32, "x");
         },
         {"[placeholder 'x']", "[1099511627776, 1099511627776]", "too large"}},
        {"an_input_of_more_bytes_than_fit",
         [](Line& here) {
           HERE placeholder({int64_t{1} << 61}, f64, "x");
         },
         {"[placeholder 'x']", "[2305843009213693952]", "too large"}},
        {"a_negative_size",
         [](Line& here) {
           HERE placeholder({2, -7}, f32, "x");
         },
         {"[placeholder 'x']", "-7", "kUnknown"}},
        {"a_product_that_does_not_fit",
         [](Line& here) {
           const Tensor a = input({kHuge, 1}, f32, "a"), b = input({1, kHuge}, f32, "b");
           HERE add(a, b, "sum");
         },
         {"[add 'sum']", "[1099511627776, 1099511627776]", "too large"}},
        {"a_matrix_that_does_not_fit",
         [](Line& here) {
           const Tensor a = input({kHuge, 1}, f32, "a");
           HERE matmul(a, a, {.transpose_b = true}, "outer");
         },
         {"[matmul 'outer']", "[1099511627776, 1099511627776]", "too large"}},
        {"a_sum_of_sizes_that_does_not_fit",
         [](Line& here) {
           const Tensor a = input({int64_t{1} << 61, 0}, u8, "a");
           HERE concat({a, a, a, a}, 0, "all");
         },
         {"[concat 'all']", "2305843009213693952"}},
        {"a_tile_that_does_not_fit",
         [](Line& here) {
           const Tensor a = input({kHuge, 0}, f32, "a");
           HERE tile(a, {kHuge, 1}, "many");
         },
         {"[tile 'many']", "1099511627776"}},
        {"a_padding_that_does_not_fit",
         [](Line& here) {
           const Tensor a = input({5}, f32, "a");
           HERE pad(a, {.before = {int64_t{1} << 62}, .after = {int64_t{1} << 62}}, "wide");
         },
         {"[pad 'wide']", "4611686018427387904"}},
        {"a_reshape_whose_sizes_do_not_fit",
         [](Line& here) {
           const Tensor a = input({4}, f32, "a");
           HERE reshape(a, {kHuge, kHuge, kHuge}, "cube");
         },
         {"[reshape 'cube']", "1099511627776", "[4]"}},
        {"a_one_hot_that_does_not_fit",
         [](Line& here) {
           const Tensor a = input({kHuge}, i32, "a");
           HERE one_hot(a, kHuge, {}, "classes");
         },
         {"[one_hot 'classes']", "1099511627776", "too large"}},
        {"a_constant_larger_than_any_machine",
         [](Line& here) {
           HERE const Tensor x = zeros({kHuge, 1024}, f32, "table");
           Session().eval(x);
         },
         {"'table'", "4503599627370496 bytes"}},
        {"a_variable_larger_than_any_machine",
         [](Line& here) {
           HERE const Variable w = get_variable("w", {.shape = {kHuge, 1024}});
           Session().get(w);
         },
         {"[variable 'w']", "4503599627370496 bytes"}},
        {"a_run_larger_than_any_machine",
         [](Line& here) {
           const Tensor x = input({}, f32, "x");
           HERE const Tensor y = broadcast_to(x, {kHuge, 1024}, "y");
           Session().eval(reduce_sum(top_k(y, 3).values), {{x, 1.0f}});
         },
         {"'y'", "4503599627370496"}},
        {"a_tensor_with_a_negative_size", [](Line&) { HostTensor({2, -3}, f32); }, {"[host_tensor]", "-3"}},
        {"a_tensor_larger_than_any_machine", [](Line&) { HostTensor({kHuge, 1024}, f32); }, {"4503599627370496 bytes"}},
        {"a_matrix_of_a_negative_size",
         [](Line& here) {
           HERE eye(-3);
         },
         {"[eye 'eye']", "-3"}},
        {"random_numbers_of_a_negative_size",
         [](Line& here) {
           HERE random_normal({2, -3}, {}, "noise");
         },
         {"[random_normal 'noise']", "-3"}},
    });

}  // namespace
}  // namespace martello::testing
