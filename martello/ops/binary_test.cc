#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace martello::testing {
namespace {

using Function = Tensor (*)(Operand, Operand, Name);
using Naive = double (*)(double, double);

Build call(Function f) {
  return [f](TensorList x) { return TensorList{f(x[0], x[1], "y")}; };
}
Reference naive(Naive f, DType out = f64) {
  return [=](const HostTensors& in) {
    return HostTensors{map_elements(
        in, [=](const std::vector<double>& v) { return f(v[0], v[1]); }, out)};
  };
}

struct Shapes {
  Shape a, b;
};
const std::vector<Shapes> kShapes = {{{}, {}},
                                     {{0}, {1}},
                                     {{3, 257}, {3, 257}},
                                     {{5, 33}, {33}},
                                     {{5, 33}, {5, 1}},
                                     {{}, {4, 9}},
                                     {{2, 1, 5}, {7, 1}},
                                     {{2, 0, 3}, {1, 3}},
                                     {{2, 1, 3, 1, 2, 1}, {1, 2, 1, 2, 1, 3}}};

// b in [low, high), a in [-3, 3).
std::vector<OpCase> floating(Function f, Naive reference, double low = -3, double high = 3, double low_a = -3) {
  std::vector<OpCase> rows;
  for (const auto& [a, b] : kShapes)
    rows.push_back({.label = str(a, b),
                    .inputs = {uniform(a, low_a, 3, 1), uniform(b, low, high, 2)},
                    .build = call(f),
                    .reference = naive(reference),
                    .second_order = a.rank() == 6});
  return rows;
}

std::vector<OpCase> integer(Function f, Naive reference, std::vector<DType> dtypes = {i32, i64, u8},
                            int64_t low_b = 1) {
  std::vector<OpCase> rows;
  for (DType dtype : dtypes)
    for (const auto& [a, b] : kShapes)
      rows.push_back({.label = str(dtype, a, b),
                      .inputs = {integers(a, dtype == u8 ? 8 : -15, 15, dtype, 3), integers(b, low_b, 8, dtype, 4)},
                      .build = call(f),
                      .reference = naive(reference),
                      .dtypes = {f32},
                      .gradient = false});
  return rows;
}

// Divisors of both signs, none of them 0.
std::vector<OpCase> both_signs(Function f, Naive reference) {
  std::vector<OpCase> rows = integer(f, reference, {i32, i64}, -7);
  for (OpCase& row : rows)
    for (int64_t i = 0; i < row.inputs[1].num_elements(); ++i)
      if (row.inputs[1].at(i) == 0) row.inputs[1].set(i, -3);
  return rows;
}

OpCase exact(std::string label, Function f, HostTensor a, HostTensor b, HostTensor y) {
  return {.label = std::move(label),
          .inputs = {std::move(a), std::move(b)},
          .build = call(f),
          .reference = [y](const HostTensors&) { return HostTensors{y}; },
          .dtypes = {f64},
          .gradient = false};
}

std::vector<OpCase> operator+(std::vector<OpCase> a, const std::vector<OpCase>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

constexpr int32_t kLow = std::numeric_limits<int32_t>::min(), kHigh = std::numeric_limits<int32_t>::max();
HostTensor ints(std::initializer_list<int32_t> v) { return HostTensor::of<int32_t>(v); }
HostTensor doubles(std::initializer_list<double> v) { return HostTensor::of<double>(v); }
double floor_mod(double a, double b) { return a - std::floor(a / b) * b; }

}  // namespace

#define ROWS(op, ...) static const OpTestRows op_test_rows_##op(#op, __FILE__, __LINE__, __VA_ARGS__)

ROWS(add, floating(add, [](double a, double b) { return a + b; }) + integer(add, [](double a, double b) {
            return a + b;
          }) + std::vector{exact("wraps", add, ints({kHigh}), ints({1}), ints({kLow}))});
ROWS(subtract, floating(subtract, [](double a, double b) { return a - b; }) + integer(subtract, [](double a, double b) {
                 return a - b;
               }) + std::vector{exact("wraps", subtract, ints({kLow}), ints({1}), ints({kHigh}))});
ROWS(multiply, floating(multiply, [](double a, double b) { return a * b; }) + integer(multiply, [](double a, double b) {
                 return a * b;
               }) + std::vector{exact("wraps", multiply, ints({kLow, kHigh}), ints({-1, 2}), ints({kLow, -2}))});
ROWS(divide, floating(
                 divide, [](double a, double b) { return a / b; }, 0.5) +
                 integer(divide, [](double a, double b) { return std::trunc(a / b); }) +
                 both_signs(divide, [](double a, double b) { return std::trunc(a / b); }) +
                 std::vector{exact("wraps", divide, ints({kLow}), ints({-1}), ints({kLow}))});
ROWS(floor_div, integer(floor_div, [](double a, double b) { return std::floor(a / b); }) +
                    both_signs(floor_div, [](double a, double b) { return std::floor(a / b); }) +
                    std::vector{exact("wraps", floor_div, ints({kLow}), ints({-1}), ints({kLow})),
                                // 1 / 0.1 rounds up to 10; Python gives 9 too
                                exact("rounding", floor_div, doubles({1, -1, 7, -7}), doubles({0.1, 0.1, 2, 2}),
                                      doubles({9, -10, 3, -4}))});
ROWS(mod, floating(mod, floor_mod, 4, 5) + integer(mod, floor_mod) + both_signs(mod, floor_mod) +
              std::vector{exact("smallest", mod, ints({kLow, kLow}), ints({-1, kHigh}), ints({0, kHigh - 1})),
                          exact("rounding", mod, doubles({1, 7, -7, 7, -7}), doubles({0.1, 3, 3, -3, -3}),
                                doubles({0.09999999999999995, 1, 2, -2, -1}))});
ROWS(maximum,
     floating(maximum, [](double a, double b) { return std::max(a, b); }) + integer(maximum, [](double a, double b) {
       return std::max(a, b);
     }) + std::vector{exact("nan", maximum, doubles({NAN, 1, NAN}), doubles({1, NAN, NAN}), doubles({NAN, NAN, NAN}))});
ROWS(minimum, floating(minimum, [](double a, double b) { return std::min(a, b); }) +
                  integer(minimum, [](double a, double b) { return std::min(a, b); }) +
                  std::vector{exact("nan", minimum, doubles({NAN, 1}), doubles({1, NAN}), doubles({NAN, NAN}))});
ROWS(pow, floating(pow, std::pow, -2, 2, 0.3));
ROWS(squared_difference, floating(squared_difference, [](double a, double b) { return (a - b) * (a - b); }) +
                             integer(squared_difference, [](double a, double b) { return (a - b) * (a - b); }));

OP_TEST(clip_by_value, {.label = "numbers",
                        .inputs = {uniform({6, 41}, -3, 3)},
                        .build = [](TensorList x) { return TensorList{clip_by_value(x[0], -1, 1.5)}; },
                        .reference =
                            [](const HostTensors& in) {
                              const auto clip = [](const std::vector<double>& v) {
                                return std::min(std::max(v[0], -1.0), 1.5);
                              };
                              return HostTensors{map_elements(in, clip, f64)};
                            }});

TEST(integer_division, by_zero_is_an_error_of_the_run) {
  const GraphScope scope;
  const Tensor a = placeholder({3}, i32, "a"), b = placeholder({3}, i32, "b");
  Session session(scope.graph());
  for (const Tensor& y : {divide(a, b), floor_div(a, b), mod(a, b)}) {
    const std::string text = error_of<InvalidArgument>([&] {
      session.run(y, {{a, ints({1, 2, 3})}, {b, ints({1, 0, 3})}});
    });
    EXPECT_CONTAINS(text, str("[", y.op().type(), " '", y.name(), "'] b is 0 at element 1"));
  }
}

// The kernel of `def` for a [4, 3] and b [3], run with 2 of 4 rows; what lies beyond stays.
template <class T>
void expect_two_rows(const OpDef& def, std::vector<T> expected) {
  const std::vector<TensorSpec> in = {{.shape = {4, 3}, .dtype = dtype_of<T>}, {.shape = {3}, .dtype = dtype_of<T>}};
  const std::vector<TensorSpec> out = {in[0]};
  const Attrs attrs;
  const Kernel kernel = def.cpu({.op = {"y", def.name}, .in = in, .out = out, .attributes = &attrs});
  std::vector<T> a = {0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0}, b = {1, 2, 3}, y(12, 77);
  std::vector<std::byte> scratch(static_cast<size_t>(kernel.scratch_bytes()));
  RunTensor inputs[] = {{a.data(), 6, 2}, {b.data(), 3, 3}}, output = {y.data(), 6, 2};
  const KernelRun run{.in_ = inputs, .out_ = &output, .scratch = scratch.data()};
  kernel.bind(run)(run);
  expected.resize(12, 77);
  EXPECT_EQ(y, expected);
}

TEST(rows, that_depend_on_data_limit_what_is_computed) {
  expect_two_rows<float>(op_add, {1, 3, 5, 4, 6, 8});
  expect_two_rows<int32_t>(op_multiply, {0, 2, 6, 3, 8, 15});
}

TEST(operators, build_nodes_and_take_numbers) {
  const GraphScope scope;
  Tensor x = placeholder({2, 3}, f32, "x");
  const std::vector<std::pair<Tensor, const char*>> nodes = {
      {x + 1, "add"},  {1 - x, "subtract"}, {x * x, "multiply"},    {x / 2, "divide"},        {-x, "negative"},
      {x < 1, "less"}, {x > 1, "greater"},  {x <= 1, "less_equal"}, {x >= 1, "greater_equal"}};
  for (const auto& [y, type] : nodes) {
    EXPECT_STREQ(y.op().type(), type);
    EXPECT_EQ(y.shape(), Shape(2, 3));
  }
  Tensor y = x;
  y += 1;
  y -= x;
  y *= 2;
  y /= x;
  EXPECT_STREQ(y.op().type(), "divide");
  EXPECT_EQ(x.op().type(), std::string("placeholder"));
}

TEST(broadcasting, keeps_symbols_and_learns_sizes) {
  const GraphScope scope;
  const Tensor x = placeholder({kUnknown, 3}, f32, "x"), row = placeholder({3}, f32, "row");
  EXPECT_EQ((x + row).shape(), x.shape());
  EXPECT_EQ((x * x).shape(), x.shape());
  EXPECT_EQ((x + placeholder({7, 1}, f32, "seven")).dim(0), 7);
  EXPECT_EQ((x + placeholder({kUnknown, 1}, f32, "other")).dim(0), kUnknown);
}

OP_REFUSES(add, dtypes, [] { add(placeholder({2}, f32, "a"), placeholder({2}, i32, "b"), "x"); },
           {"[add 'x'] a is f32[2] but b is i32[2]. Use cast(b, f32)."})
OP_REFUSES(add, shapes,
           [] {
             add(placeholder({2, 3}, f32, "a"), placeholder({4}, f32, "b"), "x");
           },
           {"[add 'x'] a is f32[2, 3] but b is f32[4]"})
OP_REFUSES(add, bools, [] { placeholder({2}, boolean, "a") + placeholder({2}, boolean, "b"); },
           {"[add 'add'] a is bool[2]", "f32, f64, i32, i64, u8"})
OP_REFUSES(pow, integers, [] { pow(placeholder({2}, i32, "a"), 2); }, {"[pow 'pow'] a is i32[2]", "f32, f64"})
OP_REFUSES(multiply, fractions, [] { placeholder({2}, i32, "a") * 0.5; }, {"0.5", "i32"})
OP_REFUSES(add, hostile_sizes,
           [] {
             placeholder({int64_t{1} << 60, 4}, u8, "a") + placeholder({int64_t{1} << 31, 4}, u8, "b");
           },
           {"[add 'add']", "1152921504606846976", "2147483648"})
OP_REFUSES(add, hostile_products,
           [] {
             placeholder({int64_t{1} << 40, 1}, f32, "a") + placeholder({1, int64_t{1} << 40}, f32, "b");
           },
           {"1099511627776 * 1099511627776"})

}  // namespace martello::testing
