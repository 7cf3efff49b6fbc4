#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/shape.h>
#include <martello/ops/split.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensors naive_split(const HostTensor& x, const std::vector<int64_t>& sizes, int axis) {
  HostTensors out;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    out.push_back(tabulate(x.shape().with(axis, size), x.dtype(), [&](Index i) {
      i[static_cast<size_t>(normalized_axis(axis, x.shape().rank()))] += begin;
      return at(x, i);
    }));
    begin += size;
  }
  return out;
}

OpCase split_case(std::string label, HostTensor x, std::vector<int64_t> asked, std::vector<int64_t> sizes, int axis) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [asked, axis](TensorList in) { return split(in[0], Shape(asked), axis); },
          .reference = [sizes, axis](const HostTensors& in) { return naive_split(in[0], sizes, axis); },
          .dtypes = {f32, f64, bf16, f16}};
}

OP_TEST(split, split_case("rows", randn({6, 2}), {1, 2, 3}, {1, 2, 3}, 0),
        split_case("columns", randn({2, 6}), {4, 2}, {4, 2}, 1),
        split_case("the rest", randn({2, 6}), {1, -1, 2}, {1, 3, 2}, -1),
        split_case("an empty piece", randn({3, 2}), {3, 0}, {3, 0}, 0),
        split_case("empty", randn({0, 2}), {0, 0}, {0, 0}, 0),
        split_case("rank 6", randn({1, 2, 4, 1, 2, 2}), {1, 3}, {1, 3}, 2),
        split_case("one piece", randn({3, 2}), {3}, {3}, 0),
        split_case("integers", integers({4}, -9, 9), {1, 3}, {1, 3}, 0),
        {.label = "equal pieces",
         .inputs = {randn({2, 6})},
         .build = [](TensorList x) { return split(x[0], 3, 1); },
         .reference =
             [](const HostTensors& in) {
               return naive_split(in[0], {2, 2, 2}, 1);
             },
         .second_order = true},
        {.label = "one of two used",
         .inputs = {randn({2, 6})},
         .build =
             [](TensorList x) {
               return TensorList{split(x[0], {2, 4}, 1)[1]};
             },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{naive_split(in[0], {2, 4}, 1)[1]};
             }},
        {.label = "sizes of others",
         .inputs = {randn({5, 2}), randn({3}), randn({2})},
         .build =
             [](TensorList x) {
               return split(x[0], {shape(x[1])[0], shape(x[2])[0]}, 0);
             },
         .reference =
             [](const HostTensors& in) {
               return naive_split(in[0], {3, 2}, 0);
             },
         .gradient = false},
        {.label = "unstacked",
         .inputs = {randn({2, 3, 4})},
         .build = [](TensorList x) { return unstack(x[0], 1); },
         .reference =
             [](const HostTensors& in) {
               HostTensors out;
               for (const HostTensor& piece : naive_split(in[0], {1, 1, 1}, 1)) out.push_back(piece.reshaped({2, 4}));
               return out;
             },
         .unknown_shapes = false});

TEST(split, unstacking_a_shape_keeps_what_is_known) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 3}, f32, "x");
  const auto [n, c] = unstack(shape(x)).unpack<2>();
  EXPECT_EQ(*c.node()->outputs[0].value, std::vector<int64_t>{3});
  EXPECT_EQ(*n.node()->outputs[0].value, std::vector<int64_t>{x.shape().symbolic()[0]});
}

OP_REFUSES(split, no_multiple, [] { split(placeholder({5}, f32, "x"), 2); }, {"5", "multiple of 2"})
OP_REFUSES(split, no_pieces, [] { split(placeholder({5}, f32, "x"), 0); }, {"0 pieces"})
OP_REFUSES(split, wrong_sum, [] { split(placeholder({5}, f32, "x"), {2, 2}); }, {"[2, 2]", "4", "5"})
OP_REFUSES(split, two_open, [] { split(placeholder({5}, f32, "x"), {-1, -1}); }, {"leave 2"})
OP_REFUSES(split, axis_out_of_range, [] { split(placeholder({5}, f32, "x"), 5, 1); }, {"axis 1"})
OP_REFUSES(split, unstack_of_unknown, [] { unstack(placeholder({kUnknown}, f32, "x")); }, {"must exist and be known"})

}  // namespace
}  // namespace martello::testing
