#pragma once
#include <martello/graph/core_ops.h>
#include <martello/passes/internal/fold.h>
#include <martello/passes/plan_graph.h>

#include <map>
#include <string>

namespace martello::testing {

// What a plan fetches, node by node on one thread; no session, no memory plan.
inline HostTensors run_plan(const PlanGraph& plan, const std::map<std::string, HostTensor>& feeds) {
  std::map<const OpNode*, HostTensors> values;
  for (OpNode* node : topological_order(plan.impl())) {
    HostTensors inputs;
    for (const Tensor& t : node->inputs) inputs.push_back(values[t.node()][static_cast<size_t>(t.index())]);
    if (node->def == &op_placeholder) values[node] = {feeds.at(node->name)};
    else if (node->def == &op_constant) values[node] = {node->attrs.get<ConstantAttrs>().value};
    else if (node->def->is_alias) values[node] = {inputs[0].reshaped(node->outputs[0].shape)};
    else values[node] = internal::run_on_cpu(*node, inputs);
  }
  HostTensors fetched;
  for (const Tensor& t : plan.fetches) fetched.push_back(values[t.node()][static_cast<size_t>(t.index())]);
  return fetched;
}

}  // namespace martello::testing
