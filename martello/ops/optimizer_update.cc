#include <martello/ops/optimizer_update.h>

#include <martello/ops/internal/update_layout.h>

namespace martello {

Kernel optimizer_update_cpu(const KernelPlan&);

namespace {

using internal::input_range;
using internal::UpdateLayout;

std::vector<TensorSpec> check_update(const ShapeContext& c) {
  const UpdateLayout layout = internal::check_update_layout(c, false);
  for (int64_t i = 0; layout.traits.takes_gradient && i < layout.count; ++i)
    internal::check_like_variable(c, layout, layout.gradient(i), i, "gradient");
  return {};
}

// What an average follows belongs to the group of its own optimizer.
std::vector<FlatGroup> update_groups(const Attrs& attrs, int) {
  const UpdateLayout layout(attrs.get<OptimizerUpdateAttrs>(), false);
  if (!layout.traits.takes_gradient) return {{input_range(layout.variables, layout.count), {}}};
  std::vector<FlatGroup> groups = {
      {input_range(layout.variables, layout.count), input_range(layout.gradients, layout.count)}};
  for (int s = 0; s < layout.traits.slots; ++s) groups.push_back({input_range(layout.slot(s, 0), layout.count), {}});
  return groups;
}

Cost update_cost(std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs&) {
  Cost cost;
  for (const TensorSpec& t : in) cost.bytes += static_cast<double>(t.shape.num_elements() * size_of(t.dtype));
  return cost;
}

}  // namespace

constinit const OpDef op_optimizer_update = {
    .name = "optimizer_update",
    .doc = "w, slots = rule(learning_rate, g, w, slots), for all variables of a group in one pass",
    .inputs = {"learning_rate", "step_gate_gradients_variables_slots..."},
    .attrs = &attrs_type<OptimizerUpdateAttrs>,
    .shape = check_update,
    .gradient = not_differentiable,
    .cpu = optimizer_update_cpu,
    .effect = Effect::write,
    .targets = [](const Attrs& attrs, int) { return internal::update_targets(attrs, false); },
    .flat_groups = update_groups,
    .cost = update_cost,
    .family = "Optimizer updates",
};

Operation optimizer_update(Operand learning_rate, const UpdateGroup& group, OptimizerUpdateAttrs attrs, Name name) {
  std::vector<Operand> gradients;
  for (const Tensor& g : group.gradients) gradients.emplace_back(g, learning_rate.line());
  return internal::add_update(op_optimizer_update, learning_rate, gradients, group, std::move(attrs), name);
}

}  // namespace martello
