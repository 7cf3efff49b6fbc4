// A gradient that only its update needs, as the product that it is:
//   %g = matmul(%a, %b) {transpose_a=true}  optimizer_update(..., %g, ...)  =>  optimizer_update(..., %a, %b, ...)
// See Note [Updates by products].
#include <martello/graph/kernel_choice.h>
#include <martello/ops/internal/update_product.h>
#include <martello/ops/matmul.h>
#include <martello/passes/internal/fuse.h>

#include <algorithm>

namespace martello::internal {
namespace {

// What lies in a variable's memory may be written before the product is made.
bool is_state(Tensor t) {
  const Effect effect = alias_source(t).node()->def->effect;
  return effect == Effect::variable || effect == Effect::read;
}

bool is_product_of_rows(const OpNode& node) {
  if (node.def != &op_matmul || node.outputs[0].dtype != f32 || node.inputs[0].dtype() != f32) return false;
  const auto& attrs = node.attrs.get<MatmulAttrs>();
  const Tensor a = node.inputs[0], b = node.inputs[1];
  if (node.inputs.size() > 2 || !attrs.transpose_a || attrs.transpose_b || a.rank() != 2 || b.rank() != 2) return false;
  if (has_dynamic_rows(a) || has_dynamic_rows(b) || is_state(a) || is_state(b)) return false;
  return UpdateProduct::is_chosen(a.shape(), b.shape());
}

// The product that this update alone needs as its gradient i, or null.
const OpNode* find_product(const FuseContext& context, const OpNode& update, const UpdateLayout& layout, int64_t i) {
  const Tensor gradient = update.inputs[static_cast<size_t>(layout.gradient(i))];
  const OpNode& node = *gradient.node();
  const bool is_free = context.users().of(gradient).size() == 1 && !context.users().is_fetched(gradient) &&
                       !context.is_pinned(node) && node.device == update.device;
  return is_free && is_product_of_rows(node) ? &node : nullptr;
}

bool take_products(PlanGraph& plan, const FuseContext& context, OpNode& update) {
  OptimizerUpdateAttrs attrs = update.attrs.get<OptimizerUpdateAttrs>();
  const UpdateLayout layout(attrs, false);
  if (!layout.traits.takes_gradient || attrs.rule == UpdateRule::lamb || !attrs.products.empty()) return false;
  std::vector<Tensor> inputs(update.inputs.begin(), update.inputs.begin() + layout.gradients);
  for (int64_t i = 0; i < layout.count; ++i) {
    if (const OpNode* product = find_product(context, update, layout, i)) {
      inputs.insert(inputs.end(), product->inputs.begin(), product->inputs.end());
      attrs.products.push_back(i);
    } else {
      inputs.push_back(update.inputs[static_cast<size_t>(layout.gradient(i))]);
    }
  }
  if (attrs.products.empty()) return false;
  inputs.insert(inputs.end(), update.inputs.begin() + layout.variables, update.inputs.end());
  update.inputs = std::move(inputs);
  update.attrs = Attrs(attrs);
  plan.impl().infer(update);
  return true;
}

}  // namespace

// An update keeps all other runs from the variables, which towers that train at their own pace would notice. And where
// products are chosen by timing, the choice may be another than ours, with other bits.
bool fuse_updates(PlanGraph& plan) {
  if (!plan.has_one_device || KernelChooserScope::wants_all()) return false;
  const FuseContext context(plan);
  bool changed = false;
  for (OpNode* node : context.order())
    if (node->def == &op_optimizer_update) changed |= take_products(plan, context, *node);
  if (changed) drop_dead_nodes(plan);
  return changed;
}

}  // namespace martello::internal
