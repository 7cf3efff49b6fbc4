#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/shape.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensors naive_shape(const HostTensors& in) {
  const Shape& s = in[0].shape();
  HostTensor y(Shape(s.rank()), i64);
  for (int i = 0; i < s.rank(); ++i) y.set(i, static_cast<double>(s[i]));
  return {y};
}
TensorList build_shape(TensorList x) { return {shape(x[0])}; }

HostTensors naive_size(const HostTensors& in) { return {HostTensor(in[0].num_elements())}; }
TensorList build_size(TensorList x) { return {size(x[0])}; }

OP_TEST(shape, {.label = "matrix", .inputs = {randn({3, 5})}, .build = build_shape, .reference = naive_shape},
        {.label = "scalar", .inputs = {randn({})}, .build = build_shape, .reference = naive_shape},
        {.label = "rank 6", .inputs = {randn({1, 2, 1, 3, 2, 2})}, .build = build_shape, .reference = naive_shape},
        {.label = "empty", .inputs = {randn({0, 4})}, .build = build_shape, .reference = naive_shape},
        {.label = "bools", .inputs = {booleans({7})}, .build = build_shape, .reference = naive_shape});
OP_TEST(size, {.label = "matrix", .inputs = {randn({3, 5})}, .build = build_size, .reference = naive_size},
        {.label = "scalar", .inputs = {randn({})}, .build = build_size, .reference = naive_size},
        {.label = "empty", .inputs = {randn({4, 0, 2})}, .build = build_size, .reference = naive_size});

TEST(shape, keeps_known_sizes_and_symbols) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 7}, f32, "x");
  const auto& value = shape(x).node()->outputs[0].value;
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(*value, x.shape().symbolic());
  EXPECT_LT((*value)[0], kUnknown);
  const Tensor v = placeholder({kUnknown}, f32, "v");
  EXPECT_EQ(*size(v).node()->outputs[0].value, v.shape().symbolic());
}

}  // namespace
}  // namespace martello::testing
