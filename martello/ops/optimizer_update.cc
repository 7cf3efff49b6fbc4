#include <martello/ops/optimizer_update.h>

#include <martello/ops/internal/large_gemm.h>
#include <martello/ops/internal/update_layout.h>

namespace martello {

Kernel optimizer_update_cpu(const KernelPlan&);

namespace {

using internal::input_range;
using internal::UpdateLayout;

void check_factors(const ShapeContext& c, const UpdateLayout& layout, int64_t i) {
  const auto at = static_cast<size_t>(layout.gradient(i));
  const TensorSpec &w = c.in[static_cast<size_t>(layout.variable(i))], &a = c.in[at], &b = c.in[at + 1];
  const bool are_matrices = a.shape.rank() == 2 && b.shape.rank() == 2 && w.shape.rank() == 2;
  const bool agrees = are_matrices && a.dtype == f32 && b.dtype == f32 && w.dtype == f32 && a.shape[0] == b.shape[0] &&
                      a.shape[1] == w.shape[0] && b.shape[1] == w.shape[1];
  const int64_t most = internal::LargeGemm::kMostDepth;
  MARTELLO_CHECK(!agrees || (a.shape[0] >= 1 && a.shape[0] <= most), c.where(), "the factors of gradient ", i, " are ",
                 a, " and ", b, ". They need between 1 and ", most, " rows; give the gradient itself.");
  MARTELLO_CHECK(agrees, c.where(), "the factors of gradient ", i, " are ", a, " and ", b, ", whose product is not ", w,
                 ", its variable.");
}

std::vector<TensorSpec> check_update(const ShapeContext& c) {
  const UpdateLayout layout = internal::check_update_layout(c, false);
  for (int64_t i = 0; layout.traits.takes_gradient && i < layout.count; ++i) {
    if (layout.is_product(i)) check_factors(c, layout, i);
    else internal::check_like_variable(c, layout, layout.gradient(i), i, "gradient");
  }
  return {};
}

// What an average follows belongs to the group of its own optimizer.
std::vector<FlatGroup> update_groups(const Attrs& attrs, int) {
  const UpdateLayout layout(attrs.get<OptimizerUpdateAttrs>(), false);
  if (!layout.traits.takes_gradient) return {{input_range(layout.variables, layout.count), {}}};
  FlatGroup first{input_range(layout.variables, layout.count)};
  for (int64_t i = 0; i < layout.count; ++i)
    first.gradients.push_back(layout.is_product(i) ? FlatGroup::kNone : layout.gradient(i));
  std::vector<FlatGroup> groups = {first};
  for (int s = 0; s < layout.traits.slots; ++s) groups.push_back({input_range(layout.slot(s, 0), layout.count), {}});
  return groups;
}

Cost update_cost(std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs& attrs) {
  Cost cost;
  for (const TensorSpec& t : in) cost.bytes += static_cast<double>(t.shape.num_elements() * size_of(t.dtype));
  const UpdateLayout layout(attrs.get<OptimizerUpdateAttrs>(), false);
  for (int64_t i : layout.products) {
    const Shape &a = in[static_cast<size_t>(layout.gradient(i))].shape,
                &w = in[static_cast<size_t>(layout.variable(i))].shape;
    cost.flops += 2 * static_cast<double>(a[0]) * static_cast<double>(w.num_elements());
  }
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
