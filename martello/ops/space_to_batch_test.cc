#include <martello/graph/core_ops.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/space_to_batch.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

// x[n, h, w, c] with block {bh, bw} and padding {top, left}, to shape y.
HostTensor naive_to_batch(const HostTensor& x, Shape y, int64_t bh, int64_t bw, int64_t top, int64_t left) {
  const int64_t batches = x.shape()[0];
  return tabulate(y, x.dtype(), [&](const Index& i) {
    const int64_t n = i[0] % batches, o = i[0] / batches;
    const int64_t h = i[1] * bh + o / bw - top, w = i[2] * bw + o % bw - left;
    const bool is_inside = h >= 0 && h < x.shape()[1] && w >= 0 && w < x.shape()[2];
    return is_inside ? at(x, {n, h, w, i[3]}) : 0.0;
  });
}
HostTensor naive_to_space(const HostTensor& x, Shape y, int64_t bh, int64_t bw, int64_t top, int64_t left) {
  const int64_t batches = y[0];
  return tabulate(y, x.dtype(), [&](const Index& i) {
    const int64_t h = i[1] + top, w = i[2] + left, o = h % bh * bw + w % bw;
    return at(x, {o * batches + i[0], h / bh, w / bw, i[3]});
  });
}

OP_TEST(space_to_batch_nd,
        {.label = "even",
         .inputs = {randn({2, 4, 6, 3})},
         .build =
             [](TensorList x) {
               return TensorList{space_to_batch_nd(x[0], {.block = {2, 3}})};
             },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{naive_to_batch(in[0], {12, 2, 2, 3}, 2, 3, 0, 0)};
             },
         .dtypes = {f32, f64, bf16, f16}},
        {.label = "padded",
         .inputs = {randn({1, 3, 4, 2})},
         .build =
             [](TensorList x) {
               return TensorList{space_to_batch_nd(x[0], {.block = {2, 2}, .before = {1, 0}, .after = {2, 2}})};
             },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{naive_to_batch(in[0], {4, 3, 3, 2}, 2, 2, 1, 0)};
             },
         .second_order = true},
        {.label = "a block larger than the image",
         .inputs = {randn({1, 2, 2, 1})},
         .build =
             [](TensorList x) {
               return TensorList{space_to_batch_nd(x[0], {.block = {5, 2}, .before = {3, 0}, .after = {0, 0}})};
             },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{naive_to_batch(in[0], {10, 1, 1, 1}, 5, 2, 3, 0)};
             }},
        {.label = "empty",
         .inputs = {randn({0, 2, 2, 1})},
         .build =
             [](TensorList x) {
               return TensorList{space_to_batch_nd(x[0], {.block = {2, 2}})};
             },
         .reference =
             [](const HostTensors&) {
               return HostTensors{HostTensor({0, 1, 1, 1}, f64)};
             },
         .dtypes = {f64}});
OP_TEST(batch_to_space_nd,
        {.label = "even",
         .inputs = {randn({12, 2, 2, 3})},
         .build =
             [](TensorList x) {
               return TensorList{batch_to_space_nd(x[0], {.block = {2, 3}})};
             },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{naive_to_space(in[0], {2, 4, 6, 3}, 2, 3, 0, 0)};
             }},
        {.label = "cropped",
         .inputs = {randn({4, 3, 3, 2})},
         .build =
             [](TensorList x) {
               return TensorList{batch_to_space_nd(x[0], {.block = {2, 2}, .before = {1, 0}, .after = {2, 2}})};
             },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{naive_to_space(in[0], {1, 3, 4, 2}, 2, 2, 1, 0)};
             },
         .second_order = true});

OP_REFUSES(space_to_batch_nd, no_multiple,
           [] {
             space_to_batch_nd(placeholder({1, 3, 4, 1}, f32, "x"), {.block = {2, 2}});
           },
           {"3", "block 2"})
OP_REFUSES(space_to_batch_nd, block_of_zero,
           [] {
             space_to_batch_nd(placeholder({1, 3}, f32, "x"), {.block = {0}});
           },
           {"[0]"})
OP_REFUSES(space_to_batch_nd, too_few_dimensions, [] { space_to_batch_nd(placeholder({4}, f32, "x"), {.block = {2}}); },
           {"needs 2 dimensions"})
OP_REFUSES(batch_to_space_nd, no_multiple,
           [] {
             batch_to_space_nd(placeholder({3, 3}, f32, "x"), {.block = {2}});
           },
           {"3 batches", "2 places"})
OP_REFUSES(batch_to_space_nd, crops_too_much,
           [] {
             batch_to_space_nd(placeholder({2, 1}, f32, "x"), {.block = {2}, .before = {3}, .after = {0}});
           },
           {"crops 3"})

}  // namespace
}  // namespace martello::testing
