#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/variable.h>
#include <martello/passes/freeze.h>

#include <unordered_set>

namespace martello {
namespace {

// Variables that a node reads or writes by itself, not only their values.
std::unordered_set<const OpNode*> held_variables(const PlanGraph& plan) {
  std::unordered_set<const OpNode*> held;
  for (const auto& node : plan.impl().nodes)
    if (node->def->effect == Effect::read || node->def->effect == Effect::write)
      for (const Tensor& t : node->inputs) held.insert(t.node());
  return held;
}

}  // namespace

bool bind_variables(PlanGraph& plan, const std::function<HostTensor(const std::string& name)>& value_of) {
  const auto held = held_variables(plan);
  bool changed = false;
  for (const auto& node : plan.impl().nodes) {
    if (node->def != &op_variable || held.contains(node.get())) continue;
    if (node->attrs.get<VariableAttrs>().is_counter) continue;
    HostTensor value = value_of(node->name);
    MARTELLO_ASSERT(value.dtype() == node->outputs[0].dtype && value.shape() == node->outputs[0].shape, node->where(),
                    "its value is ", value.dtype(), value.shape(), ".");
    node->def = &op_constant;
    node->attrs = Attrs(ConstantAttrs{std::move(value)});
    plan.impl().infer(*node);
    changed = true;
  }
  return changed;
}

}  // namespace martello
