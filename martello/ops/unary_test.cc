#include <martello/graph/core_ops.h>
#include <martello/ops/unary.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace martello::testing {
namespace {

using Function = Tensor (*)(Operand, Name);

Build call(Function f) {
  return [f](TensorList x) { return TensorList{f(x[0], "y")}; };
}

Reference naive(double (*f)(double), DType out = f64) {
  return [=](const HostTensors& in) {
    return HostTensors{map_elements(
        in, [=](const std::vector<double>& v) { return f(v[0]); }, out)};
  };
}

// Rank 0, nothing at all, more than a few vectors with an odd tail, and rank 6; inputs in [low, high).
std::vector<OpCase> smooth(Function f, double (*reference)(double), double low, double high) {
  std::vector<OpCase> rows;
  for (const Shape& shape : {Shape(), Shape(0), Shape(3, 0, 2), Shape(5, 211), Shape(2, 1, 3, 1, 2, 3)})
    rows.push_back({.label = shape.str(),
                    .inputs = {uniform(shape, low, high)},
                    .build = call(f),
                    .reference = naive(reference),
                    .second_order = shape.rank() == 6});
  return rows;
}

// The same without a gradient, at jumps of the function too.
std::vector<OpCase> stepped(Function f, double (*reference)(double), DType out = f64) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  OpCase corners{.label = "corners",
                 .inputs = {HostTensor::of<double>({-inf, -2.5, -1.5, -1, -0.5, -0.0, 0, 0.5, 1, 1.5, 2.5, inf, nan})},
                 .build = call(f),
                 .reference = naive(reference, out),
                 .gradient = false};
  OpCase many{.label = "many",
              .inputs = {uniform({3, 217}, -20, 20)},
              .build = call(f),
              .reference = naive(reference, out),
              .gradient = false};
  return {corners, many};
}

std::vector<OpCase> integer(Function f, double (*reference)(double)) {
  std::vector<OpCase> rows;
  for (DType dtype : {i32, i64, u8})
    rows.push_back({.label = std::string(to_string(dtype)),
                    .inputs = {integers({3, 71}, dtype == u8 ? 0 : -15, 15, dtype)},
                    .build = call(f),
                    .reference = naive(reference),
                    .dtypes = {f32},
                    .gradient = false});
  return rows;
}

std::vector<OpCase> operator+(std::vector<OpCase> a, const std::vector<OpCase>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
// As the dtype of u8 would: 3 gives 253.
OpCase negative_u8() {
  return {.label = "u8 wraps",
          .inputs = {HostTensor::of<uint8_t>({0, 1, 255})},
          .build = call(negative),
          .reference =
              [](const HostTensors&) {
                return HostTensors{HostTensor::of<uint8_t>({0, 255, 1})};
              },
          .dtypes = {f32},
          .gradient = false};
}
// The smallest integers have no positive counterpart.
OpCase smallest(Function f) {
  const HostTensor low = HostTensor::of<int32_t>({std::numeric_limits<int32_t>::min(), -1});
  return {.label = "smallest",
          .inputs = {low},
          .build = call(f),
          .reference =
              [](const HostTensors&) {
                return HostTensors{HostTensor::of<int32_t>({std::numeric_limits<int32_t>::min(), 1})};
              },
          .dtypes = {f32},
          .gradient = false};
}
std::vector<OpCase> signed_integer(Function f, double (*reference)(double)) {
  std::vector<OpCase> rows = integer(f, reference);
  rows.pop_back();
  return rows;
}

}  // namespace

#define ROWS(op, ...) static const OpTestRows op_test_rows_##op(#op, __FILE__, __LINE__, __VA_ARGS__)

ROWS(negative, smooth(
                   negative, [](double x) { return -x; }, -9, 9) +
                   signed_integer(negative, [](double x) { return -x; }) +
                   std::vector{negative_u8(), smallest(negative)});
ROWS(abs, smooth(abs, std::fabs, 0.1, 9) + smooth(abs, std::fabs, -9, -0.1) + integer(abs, std::fabs) +
              std::vector{smallest(abs)});
ROWS(sign, stepped(sign, sign_of) + integer(sign, sign_of));
ROWS(square, smooth(
                 square, [](double x) { return x * x; }, -3, 3) +
                 integer(square, [](double x) { return x * x; }));
ROWS(sqrt, smooth(sqrt, std::sqrt, 0.1, 9));
ROWS(rsqrt, smooth(
                rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.1, 9));
ROWS(reciprocal, smooth(
                     reciprocal, [](double x) { return 1 / x; }, 0.2, 9));
ROWS(exp, smooth(exp, std::exp, -4, 4));
ROWS(expm1, smooth(expm1, std::expm1, -2, 2));
ROWS(log, smooth(log, std::log, 0.1, 9));
ROWS(log1p, smooth(log1p, std::log1p, -0.7, 9));
ROWS(sin, smooth(sin, std::sin, -9, 9));
ROWS(cos, smooth(cos, std::cos, -9, 9));
ROWS(erf, smooth(erf, std::erf, -3, 3));
ROWS(floor, stepped(floor, std::floor));
ROWS(ceil, stepped(ceil, std::ceil));
ROWS(round, stepped(round, std::nearbyint));
ROWS(is_finite, stepped(
                    is_finite, [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }, boolean));
ROWS(is_nan, stepped(
                 is_nan, [](double x) { return std::isnan(x) ? 1.0 : 0.0; }, boolean));

OP_REFUSES(exp, integers, [] { exp(placeholder({2}, i32, "x")); }, {"[exp 'exp'] x is i32[2]", "f32, f64", "cast(x"})
OP_REFUSES(square, bools, [] { square(placeholder({2}, boolean, "x")); }, {"[square 'square']", "x is bool[2]"})
OP_REFUSES(is_nan, integers, [] { is_nan(placeholder({2}, i64, "x")); }, {"[is_nan 'is_nan']", "x is i64[2]"})

}  // namespace martello::testing
