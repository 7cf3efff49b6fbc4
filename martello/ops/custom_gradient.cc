#include <martello/ops/custom_gradient.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/ops/cast.h>
#include <martello/ops/identity.h>
#include <martello/ops/variable.h>

#include <algorithm>
#include <unordered_set>

namespace martello {

Kernel custom_gradient_cpu(const KernelPlan&);

namespace {

using GradientFn = std::function<TensorList(TensorList)>;

std::vector<TensorSpec> custom_gradient_shape(const ShapeContext& c) {
  const int64_t outputs = c.attrs<CustomGradientAttrs>().outputs;
  MARTELLO_CHECK(outputs > 0 && outputs <= static_cast<int64_t>(c.in.size()), c.where(), outputs, " outputs of ",
                 c.in.size(), " inputs.");
  return {c.in.begin(), c.in.begin() + outputs};
}

// The user's function is an override of each node.
TensorList no_function(const GradContext& c) {
  throw InvalidArgument(str("[gradients] '", c.op.name,
                            "' (custom_gradient) was made without its gradient. Make it with "
                            "custom_gradient()."));
}

// d(xs) = gradient(d(ys)); nothing flows into the nodes of `forward`
TensorList call_gradient(const GradientFn& gradient, size_t outputs, const GradContext& c) {
  std::vector<Tensor> dys, result(outputs);
  for (size_t i = 0; i < outputs; ++i) dys.push_back(c.grad(i).is_null() ? zeros_like(c.output(i)) : c.grad(i));
  const TensorList dxs = gradient(dys);
  MARTELLO_CHECK(dxs.size() == c.inputs.size() - outputs, "[custom_gradient '", c.op.name, "'] its gradient gave ",
                 dxs.size(), " tensors for ", c.inputs.size() - outputs,
                 " xs: one for each, null where there is none.");
  result.insert(result.end(), dxs.begin(), dxs.end());
  return result;
}

// The trainable variable that leads to ys by a path around xs, or null.
const OpNode* find_bypass(const TensorList& ys, const TensorList& xs) {
  const auto is_x = [&](const Tensor& t) { return std::find(xs.begin(), xs.end(), t) != xs.end(); };
  std::unordered_set<const OpNode*> seen;
  std::vector<Tensor> stack(ys.begin(), ys.end());
  while (!stack.empty()) {
    const Tensor t = stack.back();
    stack.pop_back();
    if (is_x(t) || !is_floating(t.dtype()) || !seen.insert(t.node()).second) continue;
    if (t.node()->def == &op_variable && t.node()->attrs.get<VariableAttrs>().trainable) return t.node();
    if (t.node()->def != &op_stop_gradient) stack.insert(stack.end(), t.node()->inputs.begin(), t.node()->inputs.end());
  }
  return nullptr;
}

void check_ys(const TensorList& ys, const TensorList& xs, Name name) {
  const std::string where = str("[custom_gradient '", name.text(), "'] "), line = str("\n  at ", name.line().str());
  MARTELLO_CHECK(!ys.empty(), where, "forward returned no tensors.", line);
  for (const Tensor& y : ys) MARTELLO_CHECK(!y.is_null(), where, "forward returned a null Tensor.", line);
  const OpNode* variable = find_bypass(ys, xs);
  MARTELLO_CHECK(!variable, where, "forward uses variable '", variable->name,
                 "', which is not among the xs: its "
                 "gradient would be lost. Pass it in xs, or use stop_gradient().",
                 line);
}

}  // namespace

constinit const OpDef op_custom_gradient = {
    .name = "custom_gradient",
    .doc = "ys = ys; the gradients of the xs are what a C++ function makes of those of the ys",
    .inputs = {"ys_and_xs..."},
    .outputs = {"ys..."},
    .attrs = &attrs_type<CustomGradientAttrs>,
    .shape = custom_gradient_shape,
    .gradient = no_function,
    .cpu = custom_gradient_cpu,
    .in_place = {{{0, 0}, {1, 1}, {2, 2}, {3, 3}}},
    .rows_of =
        [](const ShapeContext& c, size_t input) {
          return static_cast<int64_t>(input) < c.attrs<CustomGradientAttrs>().outputs ? Rows::same : Rows::reduced;
        },
    .has_rows_by_position = true,
    .family = "Control and state",
};

TensorList custom_gradient(const TensorList& xs, const std::function<TensorList(TensorList)>& forward,
                           GradientFn gradient, Name name) {
  for (const Tensor& x : xs)
    MARTELLO_CHECK(!x.is_null(), "[custom_gradient '", name.text(), "'] a null Tensor among the xs.\n  at ",
                   name.line().str());
  const TensorList ys = [&] {
    NameScope scope(name.text(), name.line());
    return forward(xs);
  }();
  check_ys(ys, xs, name);
  std::vector<Operand> in;
  for (const Tensor& y : ys) in.emplace_back(y, name.line());
  for (const Tensor& x : xs) in.emplace_back(x, name.line());
  const GradientOverride own("custom_gradient", name.text(),
                             [gradient = std::move(gradient), outputs = ys.size()](const GradContext& c) {
                               return call_gradient(gradient, outputs, c);
                             });
  return outputs_of(
      add_operation(op_custom_gradient, in, Attrs(CustomGradientAttrs{static_cast<int64_t>(ys.size())}), name));
}

}  // namespace martello
