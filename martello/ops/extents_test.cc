#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

TEST(extents, take_numbers_tensors_and_mixtures) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 28, 28}, f32, "x");
  const Shape some(kUnknown, 784);
  EXPECT_EQ(reshape(x, {-1, 784}).shape()[1], 784);
  EXPECT_EQ(reshape(x, some).shape()[1], 784);
  EXPECT_EQ(reshape(x, -1).rank(), 1);
  EXPECT_EQ(reshape(x, shape(x)).shape(), x.shape());
  EXPECT_EQ(reshape(x, {shape(x)[0], -1}).shape()[1], 784);
  EXPECT_EQ(reshape(x, {shape(x)[0], 784}).shape().symbolic()[0], x.shape().symbolic()[0]);
  EXPECT_EQ(reshape(placeholder({1}, f32, "one"), {}).rank(), 0);
  const Tensor n = size(x);
  EXPECT_EQ(reshape(x, n).rank(), 1);
  EXPECT_EQ(reshape(x, {n}).rank(), 1);
}

TEST(extents, keep_the_batch_symbol_through_a_chain) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 4, 6}, f32, "x");
  const Tensor y = reshape(reshape(x, {shape(x)[0], -1}), {-1, 3, 8});
  EXPECT_EQ(y.shape().symbolic(), (std::vector<int64_t>{x.shape().symbolic()[0], 3, 8}));
}

OP_REFUSES(extents, null_tensor, [] { reshape(placeholder({2}, f32, "x"), {Tensor(), 2}); }, {"null Tensor", "reshape"})
OP_REFUSES(extents, vector_beside_others,
           [] {
             const Tensor x = placeholder({2, 2}, f32, "x");
             reshape(x, {shape(x), 2});
           },
           {"scalar", "[2]"})
OP_REFUSES(extents, floating_sizes, [] { reshape(placeholder({2}, f32, "x"), placeholder({2}, f32, "s")); },
           {"i32 or i64", "f32[2]"})

}  // namespace
}  // namespace martello::testing
