#include <martello/graph/scopes.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/dims.h>
#include <martello/ops/identity.h>
#include <martello/ops/internal/elementwise_op.h>
#include <martello/ops/internal/losses_formulas.h>
#include <martello/ops/like.h>
#include <martello/ops/losses.h>
#include <martello/ops/reduce.h>
#include <martello/ops/shape.h>
#include <martello/ops/softmax.h>
#include <martello/ops/unary.h>

#include <cmath>
#include <optional>

namespace martello {
namespace {

constexpr OpDef sigmoid_cross_entropy_op() {
  // dlogits = dy (sigmoid(logits) - label),  dlabel = -dy logits
  OpDef op = elementwise_op("sigmoid_cross_entropy", "y = max(logits, 0) - logits label + log(1 + exp(-|logits|))",
                            {"logits", "label"}, [](const GradContext& c) {
                              const Tensor x = c.input(0), dy = c.grad(0);
                              return TensorList{dy * (sigmoid(x) - c.input(1)), -dy * x};
                            });
  op.shape = floating_shape;
  op.cpu = formula_cpu<cpu::formula_sigmoid_cross_entropy>;
  op.formula = &cpu::formula_sigmoid_cross_entropy;
  op.in_place = {{{0, 0}, {1, 0}}};
  op.family = "Softmax and losses";
  return op;
}

// A loss made of other ops: what its errors are called and where its nodes go.
struct Loss {
  const char* type;
  Name name;

  std::string where() const { return str("[", type, " '", name.text(), "'] "); }
  std::string at(Operand x) const { return str("\n  at ", LineScope::effective(x.line()).str()); }
};

bool have_one_shape(const Shape& a, const Shape& b) {
  bool is_same = a.rank() == b.rank();
  for (int i = 0; is_same && i < a.rank(); ++i) is_same = internal::may_be_equal(a[i], b[i]);
  return is_same;
}

void check_target(const Loss& loss, Operand x, Operand target, const char* x_name, const char* target_name) {
  MARTELLO_CHECK(!x.is_number(), loss.where(), x_name, " is the number ", x.number(), ", not a Tensor.", loss.at(x));
  if (target.is_number() || target.tensor().is_null() || x.tensor().is_null()) return;
  const Tensor a = x.tensor(), b = target.tensor();
  MARTELLO_CHECK(have_one_shape(a.shape(), b.shape()), loss.where(), x_name, " ", a.dtype(), a.shape(), " and ",
                 target_name, " ", b.dtype(), b.shape(),
                 " are compared element by element; use reshape() to give both one shape.", loss.at(x));
}

// What x is compared with: a number, or a tensor of its shape in every run; its node, if there must be one, gets `node`
// as its name.
Operand checked_target(const Loss& loss, Operand x, Operand target, const char* x_name, const char* target_name,
                       Name node = "target") {
  check_target(loss, x, target, x_name, target_name);
  if (target.is_number()) return target;
  return shaped_like(target, x, node);
}

Tensor reduced(Tensor losses, LossReduction reduction, Name name) {
  if (reduction == LossReduction::none) return identity(losses, name);
  return reduction == LossReduction::mean ? reduce_mean(losses, name) : reduce_sum(losses, name);
}

// The part of a smoothed label that every class gets.
Operand smoothed_share(Tensor logits, double smoothing) {
  const int64_t classes = logits.dim(-1);
  if (classes > 0) return smoothing / static_cast<double>(classes);
  return divide(smoothing, cast(shape(logits)[logits.rank() - 1], logits.dtype()));
}

}  // namespace

constinit const OpDef op_sigmoid_cross_entropy = sigmoid_cross_entropy_op();

Tensor sigmoid_cross_entropy(Operand logits, Operand label, Name name) {
  LineScope line(logits.line());
  const Loss loss{"sigmoid_cross_entropy", name};
  label = checked_target(loss, logits, label, "logits", "label", str(name.text(), "_target"));
  return add_op(op_sigmoid_cross_entropy, {logits, label}, name);
}

// (1 - z) log(1 + exp(x)) + weight z log(1 + exp(-x)): two parts that are never negative.
Tensor weighted_sigmoid_cross_entropy(Operand logits, Operand label, Operand positive_weight, Name name) {
  LineScope line(logits.line());
  std::optional<NameScope> scope(name.text());
  label = checked_target({"weighted_sigmoid_cross_entropy", name}, logits, label, "logits", "label");
  const Tensor x = logits.tensor(), negative_part = multiply(softplus(x), subtract(1, label));
  const Tensor positive_part = multiply(multiply(softplus(-x), label), positive_weight);
  scope.reset();
  return add(negative_part, positive_part, name);
}

Tensor softmax_cross_entropy(Operand logits, Operand labels, SoftmaxCrossEntropyAttrs attrs, Name name) {
  LineScope line(logits.line());
  const Loss loss{"softmax_cross_entropy", name};
  const double s = attrs.label_smoothing;
  MARTELLO_CHECK(s >= 0 && s <= 1, loss.where(), "label_smoothing ", s, " must lie in [0, 1].", loss.at(logits));
  std::optional<NameScope> scope(name.text());
  labels = checked_target(loss, logits, labels, "logits", "labels");
  MARTELLO_CHECK(!labels.is_number() && is_floating(labels.tensor().dtype()), loss.where(),
                 "labels are probabilities of every class, like the logits. Use sparse_softmax_cross_entropy() for "
                 "labels that number classes.",
                 loss.at(labels));
  const Tensor surprise = negative(log_softmax(logits));
  Tensor weights = labels.tensor();
  if (s > 0) weights = add(multiply(weights, 1 - s), smoothed_share(logits.tensor(), s));
  const Tensor parts = multiply(weights, surprise);
  scope.reset();
  return reduce_sum(parts, {.axes = -1}, name);
}
Tensor softmax_cross_entropy(Operand logits, Operand labels, Name name) {
  return softmax_cross_entropy(logits, labels, {}, name);
}

// c (d - c / 2) with d cut to c in [-delta, delta].
Tensor huber_loss(Operand prediction, Operand target, HuberLossAttrs attrs, Name name) {
  LineScope line(prediction.line());
  const Loss loss{"huber_loss", name};
  MARTELLO_CHECK(attrs.delta > 0 && std::isfinite(attrs.delta), loss.where(), "delta ", attrs.delta,
                 " must be finite and greater than 0.", loss.at(prediction));
  std::optional<NameScope> scope(name.text());
  target = checked_target(loss, prediction, target, "prediction", "target");
  const Tensor d = subtract(prediction, target), c = clip_by_value(d, -attrs.delta, attrs.delta);
  const Tensor losses = multiply(c, subtract(d, multiply(c, 0.5)));
  scope.reset();
  return reduced(losses, attrs.reduction, name);
}
Tensor huber_loss(Operand prediction, Operand target, Name name) { return huber_loss(prediction, target, {}, name); }

Tensor l1_loss(Operand prediction, Operand target, L1LossAttrs attrs, Name name) {
  LineScope line(prediction.line());
  std::optional<NameScope> scope(name.text());
  target = checked_target({"l1_loss", name}, prediction, target, "prediction", "target");
  const Tensor losses = abs(subtract(prediction, target));
  scope.reset();
  return reduced(losses, attrs.reduction, name);
}
Tensor l1_loss(Operand prediction, Operand target, Name name) { return l1_loss(prediction, target, {}, name); }

Tensor mean_squared_error(Operand prediction, Operand target, Name name) {
  LineScope line(prediction.line());
  std::optional<NameScope> scope(name.text());
  target = checked_target({"mean_squared_error", name}, prediction, target, "prediction", "target");
  const Tensor squares = squared_difference(prediction, target);
  scope.reset();
  return reduce_mean(squares, name);
}

}  // namespace martello
