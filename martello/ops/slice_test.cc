#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/internal/slice_range.h>
#include <martello/ops/shape.h>
#include <martello/ops/slice.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

using List = std::vector<int64_t>;

HostTensor naive_slice(const HostTensor& x, const List& begin, const List& step, const Shape& y) {
  return tabulate(y, x.dtype(), [&](Index i) {
    for (size_t d = 0; d < begin.size(); ++d) i[d] = begin[d] + i[d] * step[d];
    return at(x, i);
  });
}

OpCase slice_case(std::string label, const HostTensor& x, List begin, List size, Shape y) {
  return {.label = std::move(label),
          .inputs = {x},
          .build = [begin, size](TensorList in) { return TensorList{slice(in[0], begin, size)}; },
          .reference =
              [begin, y](const HostTensors& in) {
                return HostTensors{naive_slice(in[0], begin, List(begin.size(), 1), y)};
              },
          .dtypes = {f32, f64, bf16, f16},
          .second_order = is_floating(x.dtype())};
}
// `first`: the places that begin means.
OpCase strided_case(std::string label, HostTensor x, StridedSliceAttrs a, List first, Shape y) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [a](TensorList in) { return TensorList{strided_slice(in[0], a.begin, a.end, a.stride)}; },
          .reference =
              [a, first, y](const HostTensors& in) {
                return HostTensors{naive_slice(in[0], first, a.stride.empty() ? List(first.size(), 1) : a.stride, y)};
              },
          .second_order = true};
}

HostTensors naive_grad(const HostTensors& in) {
  HostTensor dx(Shape(4, 7), in[0].dtype());
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t c = 0; c < 3; ++c) dx.set(r * 7 + 6 - 2 * c, in[0].at(r * 3 + c));
  return {dx};
}

HostTensors row(const HostTensors& in, int64_t r) {
  const Shape y = in[0].shape().slice(1, in[0].shape().rank());
  return {tabulate(y, in[0].dtype(), [&](const Index& i) { return at(in[0], joined({r}, i)); })};
}

OP_TEST(slice, slice_case("inside", randn({4, 5}), {1, 2}, {2, 3}, {2, 3}),
        slice_case("to the end", randn({4, 5}), {1, 0}, {-1, -1}, {3, 5}),
        slice_case("nothing", randn({4, 5}), {4, 0}, {0, 5}, {0, 5}),
        slice_case("all", randn({4, 5}), {0, 0}, {4, 5}, {4, 5}),
        slice_case("rank 6", randn({2, 2, 3, 1, 2, 3}), {1, 0, 1, 0, 0, 1}, {1, 2, 2, 1, 1, 2}, {1, 2, 2, 1, 1, 2}),
        slice_case("scalar", randn({}), {}, {}, {}), slice_case("bools", booleans({70}), {3}, {65}, {65}));
OP_TEST(strided_slice, strided_case("every second", randn({7, 3}), {{1}, {kEnd}, {2}}, {1}, {3, 3}),
        strided_case("from the end", randn({7}), {{-3}, {kEnd}, {}}, {4}, {3}),
        strided_case("without the last", randn({2, 7}), {{0, 0}, {kEnd, -1}, {}}, {0, 0}, {2, 6}),
        strided_case("backwards", randn({7}), {{kEnd}, {kBefore}, {-1}}, {6}, {7}),
        strided_case("backwards by two", randn({2, 7}), {{0, 5}, {kEnd, 0}, {1, -2}}, {0, 5}, {2, 3}),
        strided_case("positions outside", randn({4}), {{-100}, {100}, {}}, {0}, {4}),
        strided_case("nothing", randn({4}), {{3}, {1}, {}}, {0}, {0}),
        strided_case("huge step", randn({4}), {{1}, {kEnd}, {kEnd}}, {1}, {1}),
        strided_case("huge step back", randn({4}), {{2}, {kBefore}, {kBefore}}, {2}, {1}),
        strided_case("empty", randn({0, 2}), {{0}, {kEnd}, {}}, {0}, {0, 2}));
OP_TEST(strided_slice_grad, {.label = "backwards by two",
                             .inputs = {randn({4, 3})},
                             .build =
                                 [](TensorList x) {
                                   return TensorList{strided_slice_grad(x[0], {{0, 6}, {kEnd, 1}, {1, -2}}, {-1, 7})};
                                 },
                             .reference = naive_grad,
                             .second_order = true});
OP_TEST(select_row,
        {.label = "first",
         .inputs = {randn({3, 4})},
         .build = [](TensorList x) { return TensorList{x[0][0]}; },
         .reference = [](const HostTensors& in) { return row(in, 0); },
         .second_order = true},
        {.label = "last",
         .inputs = {randn({3, 2, 2})},
         .build = [](TensorList x) { return TensorList{x[0][-1]}; },
         .reference = [](const HostTensors& in) { return row(in, 2); }},
        {.label = "of a vector",
         .inputs = {integers({5}, 0, 9)},
         .build = [](TensorList x) { return TensorList{x[0][-2]}; },
         .reference = [](const HostTensors& in) { return row(in, 3); }});
OP_TEST(reverse,
        {.label = "two axes",
         .inputs = {randn({3, 2, 4})},
         .build =
             [](TensorList x) {
               return TensorList{reverse(x[0], {0, -1})};
             },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{naive_slice(in[0], {2, 0, 3}, {-1, 1, -1}, in[0].shape())};
             },
         .second_order = true},
        {.label = "a long vector",
         .inputs = {randn({37})},
         .build = [](TensorList x) { return TensorList{reverse(x[0], {0})}; },
         .reference = [](const HostTensors& in) { return HostTensors{naive_slice(in[0], {36}, {-1}, in[0].shape())}; }},
        {.label = "no axes",
         .inputs = {randn({3})},
         .build = [](TensorList x) { return TensorList{reverse(x[0], {})}; },
         .reference = [](const HostTensors& in) { return in; }});

TEST(slice, keeps_what_is_known_of_sizes) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 3, 5}, f32, "x");
  EXPECT_EQ(*shape(x)[-1].node()->outputs[0].value, List{5});
  EXPECT_EQ(*slice(shape(x), {1}, {-1}).node()->outputs[0].value, (List{3, 5}));
  EXPECT_EQ(*reverse(shape(x), {0}).node()->outputs[0].value, (List{5, 3, x.shape().symbolic()[0]}));
  EXPECT_EQ(slice(x, {0, 1, 0}, {-1, 1, -1}).shape().symbolic(), (List{x.shape().symbolic()[0], 1, 5}));
}

OP_REFUSES(slice, outside, [] { slice(placeholder({4}, f32, "x"), {2}, {3}); }, {"begin 2, size 3", "f32[4]"})
OP_REFUSES(slice, too_few_numbers, [] { slice(placeholder({4, 4}, f32, "x"), {2}, {3}); }, {"one number per dimension"})
OP_REFUSES(slice, negative_begin, [] { slice(placeholder({4}, f32, "x"), {-1}, {1}); }, {"[-1]", "negative"})
OP_REFUSES(slice, overflow, [] { slice(placeholder({kUnknown}, f32, "x"), {kEnd}, {kEnd}); }, {})
OP_REFUSES(strided_slice, stride_of_zero, [] { strided_slice(placeholder({4}, f32, "x"), {0}, {4}, {0}); },
           {"stride 0 is 0"})
OP_REFUSES(strided_slice, lists_of_other_length,
           [] {
             strided_slice(placeholder({4}, f32, "x"), {0}, {4, 4});
           },
           {"1", "2"})
OP_REFUSES(strided_slice, too_many_axes,
           [] {
             strided_slice(placeholder({4}, f32, "x"), {0, 0}, {4, 4});
           },
           {"slices 2"})
OP_REFUSES(strided_slice_grad, other_slice,
           [] {
             strided_slice_grad(placeholder({3}, f32, "x"), {{0}, {2}, {}}, {5});
           },
           {"[3]", "[2]"})
OP_REFUSES(select_row, out_of_range, [] { placeholder({4}, f32, "x")[4]; }, {"index 4", "4 rows"})
OP_REFUSES(select_row, scalar, [] { placeholder({}, f32, "x")[0]; }, {"scalar"})
OP_REFUSES(reverse, axis_out_of_range, [] { reverse(placeholder({4}, f32, "x"), {1}); }, {"axis 1"})

}  // namespace
}  // namespace martello::testing
