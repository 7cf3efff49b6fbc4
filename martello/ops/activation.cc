#include <martello/ops/activation.h>
#include <martello/ops/compare.h>
#include <martello/ops/internal/activation_formulas.h>
#include <martello/ops/internal/elementwise_op.h>
#include <martello/ops/unary.h>
#include <martello/ops/where.h>

namespace martello {
namespace {

constexpr double kSeluScale = 1.0507009873554805, kSeluAlpha = 1.6732632423543772;
constexpr double kSqrtHalf = 0.70710678118654752, kNormalPeak = 0.39894228040143268;  // 1 / sqrt(2 pi)
constexpr double kGeluSlope = 0.79788456080286536, kGeluCubic = 0.044715;             // sqrt(2 / pi)

template <const cpu::Formula& formula>
constexpr OpDef activation_op(const char* name, const char* doc, GradientFn gradient) {
  return formula_op<formula>(name, doc, "Activations", gradient);
}

template <const cpu::Formula& formula>
constexpr OpDef activation_grad_op(const char* name, const char* doc, NameList inputs, GradientFn gradient) {
  OpDef op = activation_op<formula>(name, doc, gradient);
  op.inputs = inputs;
  op.outputs = {"dx"};
  op.in_place = {{{1, 0}, {0, 0}}};
  return op;
}

std::vector<double> leaky_relu_parameters(const Attrs& attrs) { return {attrs.get<LeakyReluAttrs>().alpha}; }

template <const cpu::Formula& formula>
constexpr OpDef with_alpha(OpDef op) {
  op.attrs = &attrs_type<LeakyReluAttrs>;
  op.formula_parameters = leaky_relu_parameters;
  op.cpu = [](const KernelPlan& plan) {
    return formula_kernel(plan, formula, leaky_relu_parameters(*plan.attributes));
  };
  return op;
}

// dy * (P(x) + x p(x)) with the normal distribution P and its density p.
Tensor gelu_gradient(Tensor x, Tensor dy) {
  const Tensor distribution = 0.5 * (erf(x * kSqrtHalf) + 1), density = kNormalPeak * exp(square(x) * -0.5);
  return dy * (distribution + x * density);
}

// y = x (1 + t) / 2, t = tanh(u), u = a (x + b x^3)
// dx = dy / 2 * (1 + t + x (1 - t^2) u'),  u' = a (1 + 3 b x^2)
Tensor gelu_tanh_gradient(Tensor x, Tensor dy) {
  const Tensor x2 = square(x), t = tanh(kGeluSlope * (x + kGeluCubic * (x * x2)));
  const Tensor slope = kGeluSlope * (3 * kGeluCubic * x2 + 1);
  return dy * (0.5 * ((t + 1) + x * (1 - square(t)) * slope));
}

// dy * s * (1 + x (1 - s)), s = sigmoid(x)
Tensor silu_gradient(Tensor x, Tensor dy) {
  const Tensor s = sigmoid(x);
  return dy * (s * (x * (1 - s) + 1));
}

}  // namespace

// The gradient of each by x, y and dy.
#define MARTELLO_ACTIVATION(f, doc, ...)                                                             \
  constinit const OpDef op_##f = activation_op<cpu::formula_##f>(#f, doc, [](const GradContext& c) { \
    [[maybe_unused]] const Tensor x = c.input(0), y = c.output(0), dy = c.grad(0);                   \
    return TensorList{__VA_ARGS__};                                                                  \
  });                                                                                                \
  Tensor f(Operand x, Name name) { return add_op(op_##f, {x}, name); }

// clang-format off
MARTELLO_ACTIVATION(relu, "y = max(x, 0)", relu_grad(y, dy))
MARTELLO_ACTIVATION(relu6, "y = min(max(x, 0), 6)", where(logical_and(x > 0, x < 6), dy, 0))
MARTELLO_ACTIVATION(elu, "y = x where x > 0, else exp(x) - 1", where(x > 0, dy, dy * (y + 1)))
MARTELLO_ACTIVATION(selu, "y = s x where x > 0, else s a (exp(x) - 1); s = 1.0507, a = 1.6733",
                    where(x > 0, dy * kSeluScale, dy * (y + kSeluScale * kSeluAlpha)))
MARTELLO_ACTIVATION(sigmoid, "y = 1 / (1 + exp(-x))", dy * (y * (1 - y)))
MARTELLO_ACTIVATION(tanh, "y = tanh(x)", dy * (1 - square(y)))
MARTELLO_ACTIVATION(softplus, "y = log(1 + exp(x))", dy * sigmoid(x))
MARTELLO_ACTIVATION(silu, "y = x sigmoid(x)", silu_gradient(x, dy))
MARTELLO_ACTIVATION(gelu, "y = x P(x), P(x) = (1 + erf(x / sqrt(2))) / 2", gelu_gradient(x, dy))
MARTELLO_ACTIVATION(gelu_tanh, "y = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))", gelu_tanh_gradient(x, dy))
// clang-format on

// By dy alone: where y > 0 changes with y is a set of measure zero.
constinit const OpDef op_relu_grad = activation_grad_op<cpu::formula_relu_grad>(
    "relu_grad", "dx = dy where y > 0, else 0", {"y", "dy"}, [](const GradContext& c) {
      return TensorList{Tensor(), relu_grad(c.input(0), c.grad(0))};
    });

constinit const OpDef op_leaky_relu = with_alpha<cpu::formula_leaky_relu>(
    activation_op<cpu::formula_leaky_relu>("leaky_relu", "y = x where x > 0, else alpha x", [](const GradContext& c) {
      return TensorList{leaky_relu_grad(c.input(0), c.grad(0), c.attrs<LeakyReluAttrs>().alpha)};
    }));
constinit const OpDef op_leaky_relu_grad =
    with_alpha<cpu::formula_leaky_relu_grad>(activation_grad_op<cpu::formula_leaky_relu_grad>(
        "leaky_relu_grad", "dx = dy where x > 0, else alpha dy", {"x", "dy"}, [](const GradContext& c) {
          const double alpha = c.attrs<LeakyReluAttrs>().alpha;
          return TensorList{Tensor(), leaky_relu_grad(c.input(0), c.grad(0), alpha)};
        }));

Tensor relu_grad(Operand y, Operand dy, Name name) { return add_op(op_relu_grad, {y, dy}, name); }
Tensor leaky_relu(Operand x, double alpha, Name name) {
  return add_op(op_leaky_relu, {x}, LeakyReluAttrs{alpha}, name);
}
Tensor leaky_relu_grad(Operand x, Operand dy, double alpha, Name name) {
  return add_op(op_leaky_relu_grad, {x, dy}, LeakyReluAttrs{alpha}, name);
}

}  // namespace martello
