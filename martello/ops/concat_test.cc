#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/concat.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/shape.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensor naive_concat(const HostTensors& in, int axis) {
  int64_t sum = 0;
  for (const HostTensor& x : in) sum += x.shape()[axis];
  return tabulate(in[0].shape().with(axis, sum), in[0].dtype(), [&](Index i) {
    int64_t& place = i[static_cast<size_t>(normalized_axis(axis, in[0].shape().rank()))];
    for (const HostTensor& x : in) {
      if (place < x.shape()[axis]) return at(x, i);
      place -= x.shape()[axis];
    }
    return 0.0;
  });
}

OpCase concat_case(std::string label, const HostTensors& xs, int axis) {
  return {.label = std::move(label),
          .inputs = xs,
          .build = [axis](TensorList in) { return TensorList{concat(in, axis)}; },
          .reference = [axis](const HostTensors& in) { return HostTensors{naive_concat(in, axis)}; },
          .dtypes = {f32, f64, bf16, f16},
          .second_order = is_floating(xs[0].dtype())};
}

HostTensor naive_stack(const HostTensors& in, int axis) {
  const int at_axis = normalized_axis(axis, in[0].shape().rank() + 1);
  auto dims = in[0].shape().symbolic();
  dims.insert(dims.begin() + at_axis, static_cast<int64_t>(in.size()));
  return tabulate(Shape(dims), in[0].dtype(), [&](Index i) {
    const size_t which = static_cast<size_t>(i[static_cast<size_t>(at_axis)]);
    i.erase(i.begin() + at_axis);
    return at(in[which], i);
  });
}

OpCase stack_case(std::string label, HostTensors xs, int axis) {
  return {.label = std::move(label),
          .inputs = std::move(xs),
          .build = [axis](TensorList in) { return TensorList{stack(in, axis)}; },
          .reference = [axis](const HostTensors& in) { return HostTensors{naive_stack(in, axis)}; },
          .second_order = true};
}

OP_TEST(concat, concat_case("rows", {randn({2, 3}), randn({1, 3}, 2), randn({4, 3}, 3)}, 0),
        concat_case("columns", {randn({2, 3}), randn({2, 1}, 2)}, 1),
        concat_case("channels from the end", {randn({2, 3, 4}), randn({2, 3, 5}, 2)}, -1),
        concat_case("one", {randn({2, 3})}, 0), concat_case("with an empty one", {randn({2, 0}), randn({2, 3}, 2)}, 1),
        concat_case("all empty", {randn({0, 2}), randn({0, 2})}, 0),
        concat_case("rank 6", {randn({1, 2, 2, 1, 2, 2}), randn({1, 2, 2, 3, 2, 2}, 2)}, 3),
        concat_case("long rows", {randn({3, 40}), randn({3, 29}, 2)}, 1),
        concat_case("integers", {integers({2, 3}, -9, 9), integers({2, 2}, -9, 9, i32, 2)}, 1),
        concat_case("bools", {booleans({5}), booleans({4}, 2)}, 0));
OP_TEST(stack, stack_case("scalars", {randn({}), randn({}, 2), randn({}, 3)}, 0),
        stack_case("first", {randn({2, 3}), randn({2, 3}, 2)}, 0),
        stack_case("last", {randn({2, 3}), randn({2, 3}, 2)}, -1),
        stack_case("middle", {randn({2, 3}), randn({2, 3}, 2), randn({2, 3}, 3)}, 1),
        stack_case("empty", {randn({0}), randn({0})}, 1), stack_case("one", {randn({4})}, 0));

TEST(concat, propagates_known_elements) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 3}, f32, "x");
  const Tensor joined_sizes = concat({shape(x), stack({size(constant(1.0)), shape(x)[0]})}, 0);
  const int64_t n = x.shape().symbolic()[0];
  EXPECT_EQ(*joined_sizes.node()->outputs[0].value, (std::vector<int64_t>{n, 3, 1, n}));
}

OP_REFUSES(concat, nothing, [] { concat({}, 0); }, {"xs is empty"})
OP_REFUSES(concat, other_dtype,
           [] {
             concat({placeholder({2}, f32, "x"), placeholder({2}, f64, "y")}, 0);
           },
           {"f32[2]", "f64[2]"})
OP_REFUSES(concat, other_size,
           [] {
             concat({placeholder({2, 3}, f32, "x"), placeholder({2, 4}, f32, "y")}, 0);
           },
           {"dimension 1", "3 and 4"})
OP_REFUSES(concat, axis_out_of_range, [] { concat({placeholder({2}, f32, "x")}, 1); }, {"axis 1"})
OP_REFUSES(concat, sum_too_large,
           [] {
             const Tensor x = placeholder({int64_t{1} << 62}, u8, "x");
             concat({x, x, x}, 0);
           },
           {})
OP_REFUSES(stack, other_shape, [] { stack({placeholder({2}, f32, "x"), placeholder({3}, f32, "y")}); }, {"2 and 3"})
OP_REFUSES(stack, axis_out_of_range, [] { stack({placeholder({2}, f32, "x")}, 2); }, {"axis 2"})

}  // namespace
}  // namespace martello::testing
