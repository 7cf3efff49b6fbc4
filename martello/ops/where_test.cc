#include <martello/graph/core_ops.h>
#include <martello/ops/where.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

Reference naive(DType out) {
  return [=](const HostTensors& in) {
    return HostTensors{map_elements(
        in, [](const std::vector<double>& v) { return v[0] != 0 ? v[1] : v[2]; }, out)};
  };
}

std::vector<OpCase> rows() {
  struct Shapes {
    Shape c, a, b;
  };
  const std::vector<Shapes> shapes = {
      {{}, {}, {}},          {{3, 217}, {3, 217}, {3, 217}},
      {{3, 1}, {3, 37}, {}}, {{37}, {}, {3, 37}},
      {{0}, {1}, {1}},       {{2, 1, 1, 2, 1, 1}, {1, 3, 1, 2, 1, 2}, {2, 1, 2, 1, 3, 1}}};
  std::vector<OpCase> cases;
  for (const auto& [c, a, b] : shapes)
    for (DType dtype : {f64, bf16, f16, i32, i64, u8, boolean}) {
      const HostTensor yes = integers(a, 0, 2, i32, 1).cast(dtype), no = integers(b, 0, 2, i32, 2).cast(dtype);
      cases.push_back({.label = str(dtype, c, a, b),
                       .inputs = {booleans(c, 3), yes, no},
                       .build = [](TensorList x) { return TensorList{where(x[0], x[1], x[2])}; },
                       .reference = naive(dtype),
                       .dtypes = dtype == f64 ? std::vector{f32, f64} : std::vector{dtype},
                       .gradient = dtype == f64,
                       .second_order = dtype == f64});
    }
  return cases;
}

}  // namespace

static const OpTestRows op_test_rows_where("where", __FILE__, __LINE__, rows());

OP_REFUSES(where, condition,
           [] { where(placeholder({2}, f32, "c"), placeholder({2}, f32, "a"), placeholder({2}, f32, "b")); },
           {"[where 'where']", "bool", "f32[2]"})
OP_REFUSES(where, dtypes,
           [] { where(placeholder({2}, boolean, "c"), placeholder({2}, f32, "a"), placeholder({2}, i32, "b")); },
           {"[where 'where'] a is f32[2] but b is i32[2]. Use cast(b, f32)."})
OP_REFUSES(where, shapes,
           [] { where(placeholder({4}, boolean, "c"), placeholder({2}, f32, "a"), placeholder({2}, f32, "b")); },
           {"[where 'where'] c is bool[4] but a is f32[2]"})

}  // namespace martello::testing
