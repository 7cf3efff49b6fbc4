#include <martello/graph/core_ops.h>
#include <martello/ops/compare.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

using Function = Tensor (*)(Operand, Operand, Name);
using Naive = double (*)(double, double);

OpCase row(std::string label, Function f, Naive reference, HostTensor a, HostTensor b, DType out = boolean) {
  return {.label = std::move(label),
          .inputs = {std::move(a), std::move(b)},
          .build = [f](TensorList x) { return TensorList{f(x[0], x[1], "y")}; },
          .reference =
              [=](const HostTensors& in) {
                return HostTensors{map_elements(
                    in, [=](const std::vector<double>& v) { return reference(v[0], v[1]); }, out)};
              },
          .gradient = false};
}

struct Shapes {
  Shape a, b;
};
const std::vector<Shapes> kShapes = {{{}, {}},
                                     {{0, 3}, {3}},
                                     {{3, 217}, {3, 217}},
                                     {{5, 33}, {5, 1}},
                                     {{4, 1}, {1, 37}},
                                     {{}, {2, 3, 5}},
                                     {{1, 2, 1, 2, 1, 3}, {2, 1, 2, 1, 2, 1}}};

// Few different numbers, so that many are equal.
std::vector<OpCase> comparison(Function f, Naive reference) {
  std::vector<OpCase> rows;
  for (DType dtype : {f64, i32, i64, u8})
    for (const auto& [a, b] : kShapes)
      rows.push_back(row(str(dtype, a, b), f, reference, integers(a, 0, 4, dtype, 1), integers(b, 0, 4, dtype, 2)));
  for (const auto& [a, b] : kShapes)
    rows.push_back(row(str("bool", a, b), f, reference, booleans(a, 1), booleans(b, 2)));
  rows.push_back(
      row("nan", f, reference, HostTensor::of<double>({NAN, 1, NAN}), HostTensor::of<double>({1, NAN, NAN})));
  return rows;
}
std::vector<OpCase> logical(Function f, Naive reference) {
  std::vector<OpCase> rows;
  for (const auto& [a, b] : kShapes) rows.push_back(row(str(a, b), f, reference, booleans(a, 1), booleans(b, 2)));
  return rows;
}
std::vector<OpCase> bitwise(Function f, Naive reference) {
  std::vector<OpCase> rows;
  for (DType dtype : {i32, i64, u8})
    for (const auto& [a, b] : kShapes)
      rows.push_back(
          row(str(dtype, a, b), f, reference, integers(a, 0, 200, dtype, 1), integers(b, 0, 200, dtype, 2), dtype));
  return rows;
}
int64_t bits(double v) { return static_cast<int64_t>(v); }

}  // namespace

#define ROWS(op, ...) static const OpTestRows op_test_rows_##op(#op, __FILE__, __LINE__, __VA_ARGS__)

ROWS(equal, comparison(equal, [](double a, double b) { return a == b ? 1.0 : 0.0; }));
ROWS(not_equal, comparison(not_equal, [](double a, double b) { return a != b ? 1.0 : 0.0; }));
ROWS(less, comparison(less, [](double a, double b) { return a < b ? 1.0 : 0.0; }));
ROWS(less_equal, comparison(less_equal, [](double a, double b) { return a <= b ? 1.0 : 0.0; }));
ROWS(greater, comparison(greater, [](double a, double b) { return a > b ? 1.0 : 0.0; }));
ROWS(greater_equal, comparison(greater_equal, [](double a, double b) { return a >= b ? 1.0 : 0.0; }));
ROWS(logical_and, logical(logical_and, [](double a, double b) { return a * b; }));
ROWS(logical_or, logical(logical_or, [](double a, double b) { return std::max(a, b); }));
ROWS(logical_xor, logical(logical_xor, [](double a, double b) { return a != b ? 1.0 : 0.0; }));
ROWS(bitwise_and, bitwise(bitwise_and, [](double a, double b) { return static_cast<double>(bits(a) & bits(b)); }));
ROWS(bitwise_or, bitwise(bitwise_or, [](double a, double b) { return static_cast<double>(bits(a) | bits(b)); }));
ROWS(bitwise_xor, bitwise(bitwise_xor, [](double a, double b) { return static_cast<double>(bits(a) ^ bits(b)); }));

OP_TEST(logical_not, {.label = "many",
                      .inputs = {booleans({3, 217})},
                      .build = [](TensorList x) { return TensorList{logical_not(x[0])}; },
                      .reference =
                          [](const HostTensors& in) {
                            const auto flip = [](const std::vector<double>& v) { return 1 - v[0]; };
                            return HostTensors{map_elements(in, flip, boolean)};
                          },
                      .gradient = false});
OP_TEST(bitwise_not,
        {.label = "i32",
         .inputs = {HostTensor::of<int32_t>({0, -1, 5})},
         .build = [](TensorList x) { return TensorList{bitwise_not(x[0])}; },
         .reference =
             [](const HostTensors&) {
               return HostTensors{HostTensor::of<int32_t>({-1, 0, -6})};
             },
         .gradient = false},
        {.label = "u8",
         .inputs = {HostTensor::of<uint8_t>({0, 255, 5})},
         .build = [](TensorList x) { return TensorList{bitwise_not(x[0])}; },
         .reference =
             [](const HostTensors&) {
               return HostTensors{HostTensor::of<uint8_t>({255, 0, 250})};
             },
         .gradient = false});

OP_REFUSES(less, dtypes, [] { less(placeholder({2}, f32, "a"), placeholder({2}, f64, "b")); },
           {"[less 'less'] a is f32[2] but b is f64[2]. Use cast(b, f32)."})
OP_REFUSES(logical_and, numbers, [] { logical_and(placeholder({2}, f32, "a"), placeholder({2}, f32, "b")); },
           {"[logical_and 'logical_and'] a is f32[2]", "takes bool"})
OP_REFUSES(bitwise_or, floats, [] { bitwise_or(placeholder({2}, f32, "a"), placeholder({2}, f32, "b")); },
           {"[bitwise_or 'bitwise_or'] a is f32[2]", "i32, i64, u8"})

}  // namespace martello::testing
