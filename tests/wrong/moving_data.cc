#include "wrong.h"

namespace martello::testing {
namespace {

WRONG_PROGRAM(reshape_to_another_number_of_elements, "[reshape 'flat']", "[2, 3]", "[4, 2]", "6", "8") {
  const Tensor x = input({2, 3});
  HERE reshape(x, {4, 2}, "flat");
}

WRONG_PROGRAM(reshape_with_a_rest_that_does_not_divide, "[reshape 'flat']", "[2, 3]", "4") {
  const Tensor x = input({2, 3});
  HERE reshape(x, {4, -1}, "flat");
}

WRONG_PROGRAM(reshape_with_two_open_sizes, "[reshape 'flat']", "-1", "[2, 3]") {
  const Tensor x = input({2, 3});
  HERE reshape(x, {-1, -1}, "flat");
}

WRONG_PROGRAM(reshape_by_a_real_size, "[extents 'flat']", "'n'", "f32[]", "i64") {
  const Tensor x = input({2, 3}), n = input({}, f32, "n");
  HERE reshape(x, {n, 2}, "flat");
}

WRONG_PROGRAM(concat_of_other_dimensions_that_differ, "[concat 'both']", "[2, 3]", "[2, 4]") {
  const Tensor a = input({2, 3}, f32, "a"), b = input({2, 4}, f32, "b");
  HERE concat({a, b}, 0, "both");
}

WRONG_PROGRAM(concat_along_an_axis_that_is_not_there, "[concat 'concat']", "axis 2", "[2, 3]") {
  const Tensor a = input({2, 3}, f32, "a");
  HERE concat({a, a}, 2);
}

WRONG_PROGRAM(concat_of_nothing, "[concat 'concat']", "empty", "at least one") { HERE concat({}, 0); }

WRONG_PROGRAM(concat_of_ranks_that_differ, "[concat 'concat']", "[2, 3]", "[2]") {
  const Tensor a = input({2, 3}, f32, "a"), b = input({2}, f32, "b");
  HERE concat({a, b}, 0);
}

WRONG_PROGRAM(stack_of_two_shapes, "[stack 'rows']", "[2, 3]", "[3]") {
  const Tensor a = input({2, 3}, f32, "a"), b = input({3}, f32, "b");
  HERE stack({a, b}, 0, "rows");
}

WRONG_PROGRAM(stack_of_two_dtypes, "[stack 'stack']", "f32[2]", "i64[2]") {
  const Tensor a = input({2}, f32, "a"), b = input({2}, i64, "b");
  HERE stack({a, b}, 0);
}

WRONG_PROGRAM(split_into_sizes_that_do_not_add_up, "[split 'parts']", "7", "10") {
  const Tensor x = input({10, 2});
  HERE split(x, {3, 4}, 0, "parts");
}

WRONG_PROGRAM(split_into_pieces_that_are_not_equal, "[split 'parts']", "10", "3") {
  const Tensor x = input({10, 2});
  HERE split(x, 3, 0, "parts");
}

WRONG_PROGRAM(transpose_by_something_else_than_a_permutation, "[transpose 'swapped']", "[0, 2, 2]", "[2, 3, 4]") {
  const Tensor x = input({2, 3, 4});
  HERE transpose(x, {0, 2, 2}, "swapped");
}

WRONG_PROGRAM(transpose_by_a_permutation_of_another_rank, "[transpose 'transpose']", "[1, 0]", "[2, 3, 4]") {
  const Tensor x = input({2, 3, 4});
  HERE transpose(x, {1, 0});
}

WRONG_PROGRAM(squeeze_of_a_dimension_that_is_not_1, "[squeeze 'squeeze']", "1", "3", "[1, 3]") {
  const Tensor x = input({1, 3});
  HERE squeeze(x, {1});
}

WRONG_PROGRAM(expand_dims_at_an_axis_that_is_not_there, "[expand_dims 'expand_dims']", "axis 4", "[1, 3]") {
  const Tensor x = input({1, 3});
  HERE expand_dims(x, 4);
}

WRONG_PROGRAM(slice_outside_of_the_tensor, "[slice 'part']", "3", "4", "[5, 3]") {
  const Tensor x = input({5, 3});
  HERE slice(x, {3, 0}, {4, 3}, "part");
}

WRONG_PROGRAM(slice_of_fewer_axes, "[slice 'slice']", "1", "[5, 3]") {
  const Tensor x = input({5, 3});
  HERE slice(x, {3}, {1});
}

WRONG_PROGRAM(strided_slice_that_stands_still, "[strided_slice 'strided_slice']", "stride", "0") {
  const Tensor x = input({5});
  HERE strided_slice(x, {0}, {5}, {0});
}

WRONG_PROGRAM(a_row_that_is_not_there, "[select_row 'select_row']", "5", "[5, 3]") {
  const Tensor x = input({5, 3});
  HERE x[5];
}

WRONG_PROGRAM(a_row_of_a_scalar, "[select_row 'select_row']", "0", "f32[]") {
  const Tensor x = input({});
  HERE x[0];
}

WRONG_PROGRAM(tile_of_fewer_axes, "[tile 'tile']", "[2]", "[5, 3]") {
  const Tensor x = input({5, 3});
  HERE tile(x, {2});
}

WRONG_PROGRAM(tile_a_negative_number_of_times, "[tile 'tile']", "-1", "[5, 3]") {
  const Tensor x = input({5, 3});
  HERE tile(x, {2, -1});
}

WRONG_PROGRAM(pad_by_a_negative_number, "[pad 'pad']", "-1", "[5]") {
  const Tensor x = input({5});
  HERE pad(x, {.before = {-1}, .after = {0}});
}

WRONG_PROGRAM(pad_that_reflects_more_than_there_is, "[pad 'pad']", "3", "[3]") {
  const Tensor x = input({3});
  HERE pad(x, {.before = {3}, .after = {0}, .mode = PadMode::reflect});
}

WRONG_PROGRAM(space_to_batch_with_blocks_that_do_not_divide, "[space_to_batch_nd 'space_to_batch_nd']", "5", "2") {
  const Tensor x = input({2, 5, 4, 3});
  HERE space_to_batch_nd(x, {.block = {2, 2}});
}

WRONG_PROGRAM(a_mask_of_another_shape, "[boolean_mask 'kept']", "[5, 3]", "[4]") {
  const Tensor x = input({5, 3}), mask = input({4}, boolean, "mask");
  HERE boolean_mask(x, mask, "kept");
}

WRONG_PROGRAM(a_mask_of_numbers, "[boolean_mask 'boolean_mask']", "bool", "i32[5]") {
  const Tensor x = input({5, 3}), mask = input({5}, i32, "mask");
  HERE boolean_mask(x, mask);
}

WRONG_PROGRAM(rows_that_depend_on_data_where_sizes_must_be_known, "[transpose 'columns']", "'kept'", "f32[6, 3]",
              "depends on data") {
  const Tensor x = input({6, 3}), mask = input({6}, boolean, "mask");
  const Tensor kept = boolean_mask(x, mask, "kept");
  HERE transpose(kept, {1, 0}, "columns");
}

WRONG_PROGRAM(range_without_a_step, "[range 'range']", "delta", "0") { HERE range(0, 10, 0); }

WRONG_PROGRAM(meshgrid_of_a_matrix, "'grid", "[5, 3]") {
  const Tensor x = input({5}), y = input({5, 3}, f32, "y");
  HERE meshgrid({x, y}, {}, "grid");
}

}  // namespace
}  // namespace martello::testing
