#include <martello/ops/internal/elementwise_op.h>
#include <martello/ops/internal/unary_formulas.h>
#include <martello/ops/unary.h>

namespace martello {
namespace {

constexpr double kTwoBySqrtPi = 1.1283791670955126;

template <const cpu::Formula& formula>
constexpr OpDef math_op(const char* name, const char* doc, GradientFn gradient) {
  return formula_op<formula>(name, doc, "Element-wise math", gradient);
}

template <const cpu::Formula& formula, const PlainLoops& loops>
constexpr OpDef numeric_op(const char* name, const char* doc, GradientFn gradient) {
  OpDef op = math_op<formula>(name, doc, gradient);
  op.shape = numeric_shape;
  op.cpu = formula_or_loops_cpu<formula, loops>;
  return op;
}

template <const cpu::Formula& formula>
constexpr OpDef predicate_op(const char* name, const char* doc) {
  OpDef op = math_op<formula>(name, doc, not_differentiable);
  op.shape = predicate_shape;
  op.in_place = {};
  return op;
}

}  // namespace

// The gradient of each by x, y and dy.
#define MARTELLO_GRADIENT(...)                                                     \
  [](const GradContext& c) {                                                       \
    [[maybe_unused]] const Tensor x = c.input(0), y = c.output(0), dy = c.grad(0); \
    return TensorList{__VA_ARGS__};                                                \
  }
#define MARTELLO_UNARY(f, definition)        \
  constinit const OpDef op_##f = definition; \
  Tensor f(Operand x, Name name) { return add_op(op_##f, {x}, name); }
#define MARTELLO_MATH(f, doc, ...) MARTELLO_UNARY(f, math_op<cpu::formula_##f>(#f, doc, __VA_ARGS__))
#define MARTELLO_NUMERIC(f, doc, ...) MARTELLO_UNARY(f, (numeric_op<cpu::formula_##f, loops_##f>(#f, doc, __VA_ARGS__)))
#define MARTELLO_PREDICATE(f, doc) MARTELLO_UNARY(f, predicate_op<cpu::formula_##f>(#f, doc))

// clang-format off
MARTELLO_NUMERIC(negative, "y = -x", MARTELLO_GRADIENT(-dy))
MARTELLO_NUMERIC(abs, "y = |x|", MARTELLO_GRADIENT(dy * sign(x)))
MARTELLO_NUMERIC(sign, "y = -1 where x < 0, 1 where x > 0, else x", no_gradient)
MARTELLO_NUMERIC(square, "y = x^2", MARTELLO_GRADIENT(dy * (x * 2)))
MARTELLO_MATH(sqrt, "y = x^(1/2)", MARTELLO_GRADIENT(dy * 0.5 / y))
MARTELLO_MATH(rsqrt, "y = x^(-1/2)", MARTELLO_GRADIENT(dy * (-0.5 * y) * (y * y)))
MARTELLO_MATH(reciprocal, "y = 1 / x", MARTELLO_GRADIENT(-dy * (y * y)))
MARTELLO_MATH(exp, "y = e^x", MARTELLO_GRADIENT(dy * y))
MARTELLO_MATH(expm1, "y = e^x - 1", MARTELLO_GRADIENT(dy * (y + 1)))
MARTELLO_MATH(log, "y = log(x), to base e", MARTELLO_GRADIENT(dy / x))
MARTELLO_MATH(log1p, "y = log(1 + x)", MARTELLO_GRADIENT(dy / (x + 1)))
MARTELLO_MATH(sin, "y = sin(x)", MARTELLO_GRADIENT(dy * cos(x)))
MARTELLO_MATH(cos, "y = cos(x)", MARTELLO_GRADIENT(-dy * sin(x)))
MARTELLO_MATH(erf, "y = 2 / sqrt(pi) * integral of exp(-t^2) from 0 to x",
              MARTELLO_GRADIENT(dy * (kTwoBySqrtPi * exp(-square(x)))))
MARTELLO_MATH(floor, "y = the largest integer <= x", no_gradient)
MARTELLO_MATH(ceil, "y = the smallest integer >= x", not_differentiable)
MARTELLO_MATH(round, "y = the nearest integer, half to even", not_differentiable)
MARTELLO_PREDICATE(is_finite, "y = x is neither infinite nor NaN")
MARTELLO_PREDICATE(is_nan, "y = x is NaN")
// clang-format on

}  // namespace martello
