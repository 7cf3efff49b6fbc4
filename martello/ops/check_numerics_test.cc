#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/check_numerics.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <limits>

namespace martello::testing {

OP_TEST(check_numerics,
        {.label = "finite",
         .inputs = {randn({5, 7})},
         .build = [](TensorList x) { return TensorList{check_numerics(x[0], "weights")}; },
         .reference = [](const HostTensors& x) { return x; }},
        {.label = "nothing",
         .inputs = {randn({0})},
         .build = [](TensorList x) { return TensorList{check_numerics(x[0], "")}; },
         .reference = [](const HostTensors& x) { return x; }});

OP_REFUSES(check_numerics, integers, [] { check_numerics(placeholder({2}, i32, "x"), "x"); },
           {"check_numerics", "i32", "f32"})

TEST(check_numerics, tells_what_is_not_finite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  GraphScope scope;
  const Tensor y = check_numerics(placeholder({2, 3}, f32, "x"), "the loss", "checked");
  Session session(scope.graph());
  const std::string text = error_of<InvalidArgument>([&] {
    session.run(y, {{"x", HostTensor::of<float>({1, 2, 3, kNan, kInf, kNan}, {2, 3})}});
  });
  for (const char* part : {"[check_numerics 'checked'] the loss", "2 NaN and 1 Inf", "[1, 0]", "[2, 3]"})
    EXPECT_CONTAINS(text, part);
}

}  // namespace martello::testing
