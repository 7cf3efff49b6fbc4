#include <gtest/gtest.h>
#include <martello/tensor/tensor_spec.h>

namespace martello {
namespace {

TEST(TensorSpec, text_is_dtype_and_shape) {
  EXPECT_EQ((TensorSpec{.shape = {32, kUnknown}}).str(), "f32[32, ?]");
  EXPECT_EQ((TensorSpec{.dtype = boolean}).str(), "bool[]");
}

TEST(TensorSpec, remembers_the_line_that_made_it) {
  const InputDesc x{{1, 2}, i64, "x"};
  EXPECT_EQ(x.line.line, static_cast<unsigned>(__LINE__ - 1));
}

}  // namespace
}  // namespace martello
