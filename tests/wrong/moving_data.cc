#include "wrong.h"

namespace martello::testing {
namespace {

const WrongPrograms programs(
    __FILE__,
    {
        {"reshape_to_another_number_of_elements",
         [](Line& here) {
           const Tensor x = input({2, 3});
           HERE reshape(x, {4, 2}, "flat");
         },
         {"[reshape 'flat']", "[2, 3]", "[4, 2]", "6", "8"}},
        {"reshape_with_a_rest_that_does_not_divide",
         [](Line& here) {
           const Tensor x = input({2, 3});
           HERE reshape(x, {4, -1}, "flat");
         },
         {"[reshape 'flat']", "[2, 3]", "4"}},
        {"reshape_with_two_open_sizes",
         [](Line& here) {
           const Tensor x = input({2, 3});
           HERE reshape(x, {-1, -1}, "flat");
         },
         {"[reshape 'flat']", "-1", "[2, 3]"}},
        {"reshape_by_a_real_size",
         [](Line& here) {
           const Tensor x = input({2, 3}), n = input({}, f32, "n");
           HERE reshape(x, {n, 2}, "flat");
         },
         {"[extents 'flat']", "'n'", "f32[]", "i64"}},
        {"concat_of_other_dimensions_that_differ",
         [](Line& here) {
           const Tensor a = input({2, 3}, f32, "a"), b = input({2, 4}, f32, "b");
           HERE concat({a, b}, 0, "both");
         },
         {"[concat 'both']", "[2, 3]", "[2, 4]"}},
        {"concat_along_an_axis_that_is_not_there",
         [](Line& here) {
           const Tensor a = input({2, 3}, f32, "a");
           HERE concat({a, a}, 2);
         },
         {"[concat 'concat']", "axis 2", "[2, 3]"}},
        {"concat_of_nothing",
         [](Line& here) {
           HERE concat({}, 0);
         },
         {"[concat 'concat']", "empty", "at least one"}},
        {"concat_of_ranks_that_differ",
         [](Line& here) {
           const Tensor a = input({2, 3}, f32, "a"), b = input({2}, f32, "b");
           HERE concat({a, b}, 0);
         },
         {"[concat 'concat']", "[2, 3]", "[2]"}},
        {"stack_of_two_shapes",
         [](Line& here) {
           const Tensor a = input({2, 3}, f32, "a"), b = input({3}, f32, "b");
           HERE stack({a, b}, 0, "rows");
         },
         {"[stack 'rows']", "[2, 3]", "[3]"}},
        {"stack_of_two_dtypes",
         [](Line& here) {
           const Tensor a = input({2}, f32, "a"), b = input({2}, i64, "b");
           HERE stack({a, b}, 0);
         },
         {"[stack 'stack']", "f32[2]", "i64[2]"}},
        {"split_into_sizes_that_do_not_add_up",
         [](Line& here) {
           const Tensor x = input({10, 2});
           HERE split(x, {3, 4}, 0, "parts");
         },
         {"[split 'parts']", "7", "10"}},
        {"split_into_pieces_that_are_not_equal",
         [](Line& here) {
           const Tensor x = input({10, 2});
           HERE split(x, 3, 0, "parts");
         },
         {"[split 'parts']", "10", "3"}},
        {"transpose_by_something_else_than_a_permutation",
         [](Line& here) {
           const Tensor x = input({2, 3, 4});
           HERE transpose(x, {0, 2, 2}, "swapped");
         },
         {"[transpose 'swapped']", "[0, 2, 2]", "[2, 3, 4]"}},
        {"transpose_by_a_permutation_of_another_rank",
         [](Line& here) {
           const Tensor x = input({2, 3, 4});
           HERE transpose(x, {1, 0});
         },
         {"[transpose 'transpose']", "[1, 0]", "[2, 3, 4]"}},
        {"squeeze_of_a_dimension_that_is_not_1",
         [](Line& here) {
           const Tensor x = input({1, 3});
           HERE squeeze(x, {1});
         },
         {"[squeeze 'squeeze']", "1", "3", "[1, 3]"}},
        {"expand_dims_at_an_axis_that_is_not_there",
         [](Line& here) {
           const Tensor x = input({1, 3});
           HERE expand_dims(x, 4);
         },
         {"[expand_dims 'expand_dims']", "axis 4", "[1, 3]"}},
        {"slice_outside_of_the_tensor",
         [](Line& here) {
           const Tensor x = input({5, 3});
           HERE slice(x, {3, 0}, {4, 3}, "part");
         },
         {"[slice 'part']", "3", "4", "[5, 3]"}},
        {"slice_of_fewer_axes",
         [](Line& here) {
           const Tensor x = input({5, 3});
           HERE slice(x, {3}, {1});
         },
         {"[slice 'slice']", "1", "[5, 3]"}},
        {"strided_slice_that_stands_still",
         [](Line& here) {
           const Tensor x = input({5});
           HERE strided_slice(x, {0}, {5}, {0});
         },
         {"[strided_slice 'strided_slice']", "stride", "0"}},
        {"a_row_that_is_not_there",
         [](Line& here) {
           const Tensor x = input({5, 3});
           HERE x[5];
         },
         {"[select_row 'select_row']", "5", "[5, 3]"}},
        {"a_row_of_a_scalar",
         [](Line& here) {
           const Tensor x = input({});
           HERE x[0];
         },
         {"[select_row 'select_row']", "0", "f32[]"}},
        {"tile_of_fewer_axes",
         [](Line& here) {
           const Tensor x = input({5, 3});
           HERE tile(x, {2});
         },
         {"[tile 'tile']", "[2]", "[5, 3]"}},
        {"tile_a_negative_number_of_times",
         [](Line& here) {
           const Tensor x = input({5, 3});
           HERE tile(x, {2, -1});
         },
         {"[tile 'tile']", "-1", "[5, 3]"}},
        {"pad_by_a_negative_number",
         [](Line& here) {
           const Tensor x = input({5});
           HERE pad(x, {.before = {-1}, .after = {0}});
         },
         {"[pad 'pad']", "-1", "[5]"}},
        {"pad_that_reflects_more_than_there_is",
         [](Line& here) {
           const Tensor x = input({3});
           HERE pad(x, {.before = {3}, .after = {0}, .mode = PadMode::reflect});
         },
         {"[pad 'pad']", "3", "[3]"}},
        {"space_to_batch_with_blocks_that_do_not_divide",
         [](Line& here) {
           const Tensor x = input({2, 5, 4, 3});
           HERE space_to_batch_nd(x, {.block = {2, 2}});
         },
         {"[space_to_batch_nd 'space_to_batch_nd']", "5", "2"}},
        {"a_mask_of_another_shape",
         [](Line& here) {
           const Tensor x = input({5, 3}), mask = input({4}, boolean, "mask");
           HERE boolean_mask(x, mask, "kept");
         },
         {"[boolean_mask 'kept']", "[5, 3]", "[4]"}},
        {"a_mask_of_numbers",
         [](Line& here) {
           const Tensor x = input({5, 3}), mask = input({5}, i32, "mask");
           HERE boolean_mask(x, mask);
         },
         {"[boolean_mask 'boolean_mask']", "bool", "i32[5]"}},
        {"rows_that_depend_on_data_where_sizes_must_be_known",
         [](Line& here) {
           const Tensor x = input({6, 3}), mask = input({6}, boolean, "mask");
           const Tensor kept = boolean_mask(x, mask, "kept");
           HERE transpose(kept, {1, 0}, "columns");
         },
         {"[transpose 'columns']", "'kept'", "f32[6, 3]", "depends on data"}},
        {"range_without_a_step",
         [](Line& here) {
           HERE range(0, 10, 0);
         },
         {"[range 'range']", "delta", "0"}},
        {"meshgrid_of_a_matrix",
         [](Line& here) {
           const Tensor x = input({5}), y = input({5, 3}, f32, "y");
           HERE meshgrid({x, y}, {}, "grid");
         },
         {"'grid", "[5, 3]"}},
    });

}  // namespace
}  // namespace martello::testing
