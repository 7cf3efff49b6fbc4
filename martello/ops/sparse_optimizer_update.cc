#include <martello/ops/sparse_optimizer_update.h>

#include <martello/base/error.h>
#include <martello/ops/internal/update_layout.h>

namespace martello {

Kernel sparse_optimizer_update_cpu(const KernelPlan&);

namespace {

using internal::UpdateLayout;

void check_rule_of_rows(const ShapeContext& c) {
  const auto& a = c.attrs<OptimizerUpdateAttrs>();
  const bool fits = traits_of(a.rule).takes_gradient && a.rule != UpdateRule::lamb && a.rule != UpdateRule::accumulate;
  MARTELLO_CHECK(fits && a.weight_decay.empty(), c.where(), internal::rule_name(a),
                 a.weight_decay.empty() ? "" : " with decay",
                 " changes rows that have no gradient. Use the dense gradient.");
  MARTELLO_CHECK(a.count == 1, c.where(), "works on 1 variable, not ", a.count, ".");
}

std::vector<TensorSpec> check_sparse_update(const ShapeContext& c) {
  check_rule_of_rows(c);
  const UpdateLayout layout = internal::check_update_layout(c, true);
  const size_t at = static_cast<size_t>(layout.gradients);
  const TensorSpec &indices = c.in[at], &values = c.in[at + 1], &w = c.in[static_cast<size_t>(layout.variable(0))];
  MARTELLO_CHECK((indices.dtype == i32 || indices.dtype == i64) && indices.shape.rank() == 1, c.where(),
                 "indices need to be an integer vector but are ", indices, ".");
  bool agrees = values.dtype == w.dtype && w.shape.rank() > 0 && values.shape.rank() == w.shape.rank();
  for (int d = 1; agrees && d < w.shape.rank(); ++d)
    agrees = values.shape[d] == kUnknown || values.shape[d] == w.shape[d];
  const int64_t n = agrees ? values.shape[0] : 0, asked = indices.shape[0];
  MARTELLO_CHECK(agrees && (n == kUnknown || asked == kUnknown || n == asked), c.where(), "rows ", values, " at ",
                 indices, " do not fit the variable ", w, ".");
  return {};
}

// Only the rows named are touched.
Cost sparse_update_cost(std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs& attrs) {
  const auto at = static_cast<size_t>(UpdateLayout(attrs.get<OptimizerUpdateAttrs>(), true).gradients);
  const auto rows = static_cast<double>(in[at + 1].shape.num_elements() * size_of(in[at + 1].dtype));
  return {.bytes = rows * static_cast<double>(in.size() - at)};
}

}  // namespace

constinit const OpDef op_sparse_optimizer_update = {
    .name = "sparse_optimizer_update",
    .doc = "w[j], slots[j] = rule(learning_rate, sum of values[i] with indices[i] == j, w[j], slots[j])",
    .inputs = {"learning_rate", "step_gate_indices_values_variable_slots..."},
    .attrs = &attrs_type<OptimizerUpdateAttrs>,
    .shape = check_sparse_update,
    .gradient = not_differentiable,
    .cpu = sparse_optimizer_update_cpu,
    .effect = Effect::write,
    .targets = [](const Attrs& attrs, int) { return internal::update_targets(attrs, true); },
    .rows = Rows::reduced,
    .cost = sparse_update_cost,
    .family = "Optimizer updates",
};

Operation sparse_optimizer_update(Operand learning_rate, Operand indices, Operand values, const UpdateGroup& group,
                                  OptimizerUpdateAttrs attrs, Name name) {
  return internal::add_update(op_sparse_optimizer_update, learning_rate, {indices, values}, group, std::move(attrs),
                              name);
}

}  // namespace martello
