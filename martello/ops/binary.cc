#include <martello/ops/binary.h>
#include <martello/ops/compare.h>
#include <martello/ops/identity.h>
#include <martello/ops/internal/binary_formulas.h>
#include <martello/ops/internal/elementwise_op.h>
#include <martello/ops/unary.h>
#include <martello/ops/where.h>

namespace martello {
namespace {

// Known elements of integer tensors: a result that is unknown, negative or might wrap is unknown.
using SizeFn = int64_t (*)(int64_t, int64_t);
template <SizeFn f>
std::optional<std::vector<int64_t>> size_value(const ShapeContext& c) {
  const auto *a = c.value(0), *b = c.value(1);
  if (!a || !b || c.in[0].dtype == u8) return std::nullopt;
  const bool is_alike = a->size() == 1 || b->size() == 1 || c.in[0].shape == c.in[1].shape;
  if (!is_alike) return std::nullopt;
  std::vector<int64_t> y(a->size() == 1 ? b->size() : a->size());
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = f((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (y[i] > INT32_MAX) y[i] = kUnknown;
  }
  return y;
}

bool are_sizes(int64_t a, int64_t b) { return a >= 0 && b >= 0 && a <= INT32_MAX && b <= INT32_MAX; }
int64_t add_sizes(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return a == 0 ? b : a;
  return are_sizes(a, b) ? a + b : kUnknown;
}
int64_t subtract_sizes(int64_t a, int64_t b) {
  if (b == 0) return a;
  return are_sizes(a, b) && a >= b ? a - b : kUnknown;
}
int64_t multiply_sizes(int64_t a, int64_t b) {
  if (a == 1 || b == 1) return a == 1 ? b : a;
  return are_sizes(a, b) ? a * b : kUnknown;
}
int64_t divide_sizes(int64_t a, int64_t b) {
  if (b == 1) return a;
  return are_sizes(a, b) && b > 0 ? a / b : kUnknown;
}
int64_t mod_sizes(int64_t a, int64_t b) { return are_sizes(a, b) && b > 0 ? a % b : kUnknown; }
int64_t max_sizes(int64_t a, int64_t b) { return a == b ? a : are_sizes(a, b) ? std::max(a, b) : kUnknown; }
int64_t min_sizes(int64_t a, int64_t b) { return a == b ? a : are_sizes(a, b) ? std::min(a, b) : kUnknown; }

template <const cpu::Formula& formula>
constexpr OpDef floating_op(const char* name, const char* doc, GradientFn gradient) {
  OpDef op = elementwise_op(name, doc, {"a", "b"}, gradient);
  op.shape = floating_shape;
  op.cpu = formula_cpu<formula>;
  op.formula = &formula;
  op.in_place = {{{0, 0}, {1, 0}}};
  op.family = "Element-wise arithmetic";
  return op;
}

template <const cpu::Formula& formula, const PlainLoops& loops, SizeFn size = nullptr>
constexpr OpDef arithmetic_op(const char* name, const char* doc, GradientFn gradient) {
  OpDef op = floating_op<formula>(name, doc, gradient);
  op.shape = numeric_shape;
  op.cpu = formula_or_loops_cpu<formula, loops>;
  if constexpr (size != nullptr) op.value = size_value<size>;
  return op;
}

// da = dy b a^(b - 1),  db = dy y log(a), which is 0 where a is 0 and undefined below.
TensorList pow_gradient(Tensor a, Tensor b, Tensor y, Tensor dy, const std::vector<bool>& needed) {
  TensorList grads{needed[0] ? dy * (b * pow(a, b - 1)) : Tensor(), Tensor()};
  if (!needed[1]) return grads;
  return {grads[0], dy * (y * log(where(equal(a, 0), 1, a)))};
}

}  // namespace

// The gradients of each by a, b, y and dy.
#define MARTELLO_GRADIENT(...)                                                                     \
  [](const GradContext& c) {                                                                       \
    [[maybe_unused]] const Tensor a = c.input(0), b = c.input(1), y = c.output(0), dy = c.grad(0); \
    return TensorList{__VA_ARGS__};                                                                \
  }
#define MARTELLO_BINARY(f, definition)       \
  constinit const OpDef op_##f = definition; \
  Tensor f(Operand a, Operand b, Name name) { return add_op(op_##f, {a, b}, name); }
#define MARTELLO_ARITHMETIC(f, sizes, doc, ...) \
  MARTELLO_BINARY(f, (arithmetic_op<cpu::formula_##f, loops_##f, sizes>(#f, doc, __VA_ARGS__)))

// clang-format off
MARTELLO_ARITHMETIC(add, add_sizes, "y = a + b", MARTELLO_GRADIENT(dy, dy))
MARTELLO_ARITHMETIC(subtract, subtract_sizes, "y = a - b", MARTELLO_GRADIENT(dy, -dy))
MARTELLO_ARITHMETIC(multiply, multiply_sizes, "y = a * b", MARTELLO_GRADIENT(dy * b, dy * a))
MARTELLO_ARITHMETIC(divide, divide_sizes, "y = a / b", MARTELLO_GRADIENT(dy / b, -dy * (y / b)))
MARTELLO_ARITHMETIC(floor_div, divide_sizes, "y = floor(a / b)", not_differentiable)
MARTELLO_ARITHMETIC(mod, mod_sizes, "y = a - floor(a / b) * b",
                    MARTELLO_GRADIENT(dy, -dy * stop_gradient(floor_div(a, b))))
MARTELLO_ARITHMETIC(maximum, max_sizes, "y = max(a, b)", MARTELLO_GRADIENT(where(a >= b, dy, 0), where(a >= b, 0, dy)))
MARTELLO_ARITHMETIC(minimum, min_sizes, "y = min(a, b)", MARTELLO_GRADIENT(where(a <= b, dy, 0), where(a <= b, 0, dy)))
MARTELLO_ARITHMETIC(squared_difference, nullptr, "y = (a - b)^2",
                    MARTELLO_GRADIENT(dy * (2 * (a - b)), dy * (2 * (b - a))))
MARTELLO_BINARY(pow, floating_op<cpu::formula_pow>("pow", "y = a^b", [](const GradContext& c) {
                  return pow_gradient(c.input(0), c.input(1), c.output(0), c.grad(0), c.needed);
                }))
// clang-format on

Tensor clip_by_value(Operand x, Operand low, Operand high, Name name) {
  LineScope line(x.line());
  return minimum(maximum(x, low, str(name.text(), "_low")), high, name);
}

// An operator's node shows the line of its operands: operators cannot capture their caller's.
Tensor operator+(Operand a, Operand b) { return add(a, b, Name("add", a.line())); }
Tensor operator-(Operand a, Operand b) { return subtract(a, b, Name("subtract", a.line())); }
Tensor operator*(Operand a, Operand b) { return multiply(a, b, Name("multiply", a.line())); }
Tensor operator/(Operand a, Operand b) { return divide(a, b, Name("divide", a.line())); }
Tensor operator<(Operand a, Operand b) { return less(a, b, Name("less", a.line())); }
Tensor operator>(Operand a, Operand b) { return greater(a, b, Name("greater", a.line())); }
Tensor operator<=(Operand a, Operand b) { return less_equal(a, b, Name("less_equal", a.line())); }
Tensor operator>=(Operand a, Operand b) { return greater_equal(a, b, Name("greater_equal", a.line())); }
Tensor operator-(Operand x) { return negative(x, Name("negative", x.line())); }
// `a` is bound by reference, not converted: the line comes from b.
Tensor& operator+=(Tensor& a, Operand b) { return a = add(Operand(a, b.line()), b, Name("add", b.line())); }
Tensor& operator-=(Tensor& a, Operand b) { return a = subtract(Operand(a, b.line()), b, Name("subtract", b.line())); }
Tensor& operator*=(Tensor& a, Operand b) { return a = multiply(Operand(a, b.line()), b, Name("multiply", b.line())); }
Tensor& operator/=(Tensor& a, Operand b) { return a = divide(Operand(a, b.line()), b, Name("divide", b.line())); }

}  // namespace martello
