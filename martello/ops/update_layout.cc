#include <martello/ops/internal/update_layout.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/variable.h>

#include <numeric>

namespace martello {

std::vector<std::string> enum_names(UpdateRule) {
  return {"gradient_descent",  "momentum", "nesterov", "adam", "rms_prop",
          "centered_rms_prop", "adagrad",  "adadelta", "lion", "lamb",
          "accumulate",        "average",  "swap"};
}

UpdateTraits traits_of(UpdateRule rule) {
  switch (rule) {
    case UpdateRule::gradient_descent: return {};
    case UpdateRule::adam:
    case UpdateRule::lamb: return {.slots = 2, .counts_steps = true};
    case UpdateRule::rms_prop:
    case UpdateRule::adadelta: return {.slots = 2};
    case UpdateRule::centered_rms_prop: return {.slots = 3};
    case UpdateRule::accumulate: return {};
    case UpdateRule::average:
    case UpdateRule::swap: return {.slots = 1, .takes_gradient = false};
    default: return {.slots = 1};
  }
}

namespace internal {
namespace {

constexpr int64_t kMostVariables = 1 << 24;  // keeps positions of inputs within int

void check_scalar(const ShapeContext& c, int input, DType dtype, const char* what) {
  const TensorSpec& t = c.in[static_cast<size_t>(input)];
  MARTELLO_CHECK(t.dtype == dtype && t.shape.rank() == 0, c.where(), what, " needs to be a scalar of ", dtype,
                 " but is ", t, ".");
}

}  // namespace

std::string rule_name(const OptimizerUpdateAttrs& a) { return enum_names(a.rule)[static_cast<size_t>(a.rule)]; }

std::vector<int> input_range(int64_t begin, int64_t count) {
  std::vector<int> list(static_cast<size_t>(count));
  std::iota(list.begin(), list.end(), static_cast<int>(begin));
  return list;
}

void check_like_variable(const ShapeContext& c, const UpdateLayout& layout, int input, int64_t i, const char* what) {
  const TensorSpec &w = c.in[static_cast<size_t>(layout.variable(i))], &other = c.in[static_cast<size_t>(input)];
  bool agrees = w.dtype == other.dtype && w.shape.rank() == other.shape.rank();
  for (int d = 0; agrees && d < w.shape.rank(); ++d)
    agrees = other.shape[d] == kUnknown || other.shape[d] == w.shape[d];
  MARTELLO_CHECK(agrees, c.where(), what, " ", i, " is ", other, " but its variable is ", w, ".");
}

namespace {

void check_lists(const ShapeContext& c, const UpdateLayout& layout) {
  for (int64_t i = 0; i < layout.count; ++i) {
    const TensorSpec& w = c.in[static_cast<size_t>(layout.variable(i))];
    const TensorSpec& first = c.in[static_cast<size_t>(layout.variable(0))];
    MARTELLO_CHECK((w.dtype == f32 || w.dtype == f64) && w.dtype == first.dtype, c.where(), "variable ", i, " is ", w,
                   " and the first is ", first, ": a group has one dtype, f32 or f64.");
    for (int s = 0; s < layout.traits.slots; ++s) check_like_variable(c, layout, layout.slot(s, i), i, "slot");
  }
}

void check_products(const ShapeContext& c, const OptimizerUpdateAttrs& a, bool is_sparse) {
  if (a.products.empty()) return;
  MARTELLO_CHECK(!is_sparse && traits_of(a.rule).takes_gradient && a.rule != UpdateRule::lamb, c.where(), rule_name(a),
                 " takes no gradients as products.");
  int64_t last = -1;
  for (int64_t i : a.products) {
    MARTELLO_CHECK(i > last && i < a.count, c.where(), "product ", i, " after ", last,
                   ": list variables in ascending order, below ", a.count, ".");
    last = i;
  }
}

}  // namespace

// The scalars, and that there are as many inputs as the rule and the count ask for.
UpdateLayout check_update_layout(const ShapeContext& c, bool is_sparse) {
  const auto& a = c.attrs<OptimizerUpdateAttrs>();
  MARTELLO_CHECK(a.count >= 0 && a.count <= kMostVariables, c.where(), "a group of ", a.count,
                 " variables cannot be. Have between 0 and ", kMostVariables, ".");
  check_products(c, a, is_sparse);
  const UpdateLayout layout(a, is_sparse);
  MARTELLO_CHECK(static_cast<int64_t>(c.in.size()) == layout.inputs, c.where(), rule_name(a), " takes ", layout.inputs,
                 " inputs for ", a.count, " variables but was given ", c.in.size(), ".");
  MARTELLO_CHECK(c.in[0].shape.rank() == 0 && (c.in[0].dtype == f32 || c.in[0].dtype == f64), c.where(), rule_name(a),
                 ": the learning rate needs to be a floating scalar but is ", c.in[0], ".");
  if (layout.step >= 0) check_scalar(c, layout.step, i64, "the step");
  if (layout.gate >= 0) check_scalar(c, layout.gate, boolean, "the gate");
  const size_t decays = a.weight_decay.size();
  MARTELLO_CHECK(decays == 0 || decays == static_cast<size_t>(a.count), c.where(), "has ", decays,
                 " numbers of weight decay for ", a.count, " variables. Give one for each, or none.");
  check_lists(c, layout);
  return layout;
}

std::vector<int> update_targets(const Attrs& attrs, bool is_sparse) {
  const UpdateLayout layout(attrs.get<OptimizerUpdateAttrs>(), is_sparse);
  auto list = input_range(layout.variables, layout.count * (1 + layout.traits.slots));
  if (layout.step >= 0) list.push_back(layout.step);
  return list;
}

namespace {

// A number keeps all its digits; the step beside it says nothing about its dtype.
Operand as_rate(const Operand& learning_rate) {
  if (!learning_rate.is_number()) return learning_rate;
  LineScope line(learning_rate.line());
  return Operand(constant(HostTensor(learning_rate.number()), "learning_rate"), learning_rate.line());
}

void check_targets(const char* op, const UpdateGroup& group, Name name) {
  for (const Variable& v : group.variables)
    MARTELLO_CHECK(!v.handle().is_null() && v.handle().node()->def == &op_variable, "[", op, " '", name.text(),
                   "'] works on variables, and one of its targets is none.\n  at ", name.line().str());
}

}  // namespace

Operation add_update(const OpDef& def, Operand rate, const std::vector<Operand>& gradients, const UpdateGroup& group,
                     OptimizerUpdateAttrs attrs, Name name) {
  check_targets(def.name, group, name);
  attrs.count = static_cast<int64_t>(group.variables.size());
  attrs.is_gated = !group.gate.is_null();
  std::vector<Operand> in = {as_rate(rate)};
  const SourceLine line = rate.line();
  if (!group.step.handle().is_null()) in.emplace_back(group.step.handle(), line);
  if (attrs.is_gated) in.emplace_back(group.gate, line);
  in.insert(in.end(), gradients.begin(), gradients.end());
  for (const Variable& v : group.variables) in.emplace_back(v.handle(), line);
  for (const auto& slot : group.slots)
    for (const Variable& v : slot) in.emplace_back(v.handle(), line);
  return add_operation(def, in, Attrs(std::move(attrs)), name);
}

}  // namespace internal
}  // namespace martello
