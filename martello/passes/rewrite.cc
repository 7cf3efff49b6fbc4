#include <martello/passes/internal/rewrite.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/internal/field_visitor.h>

#include <algorithm>

namespace martello::internal {

void Forwarding::set(Tensor from, Tensor to) {
  auto& outputs = to_[static_cast<size_t>(from.node()->id)];
  outputs.resize(std::max(outputs.size(), static_cast<size_t>(from.index()) + 1));
  outputs[static_cast<size_t>(from.index())] = to;
}

Tensor Forwarding::find(Tensor t) const {
  const auto id = static_cast<size_t>(t.node()->id), index = static_cast<size_t>(t.index());
  if (id >= to_.size() || index >= to_[id].size() || to_[id][index].is_null()) return t;
  return to_[id][index];
}

void Forwarding::apply(PlanGraph& plan) const {
  for (const auto& node : plan.impl().nodes)
    for (Tensor& t : node->inputs) t = find(t);
  for (Tensor& t : plan.fetches) t = find(t);
}

namespace {
bool is_better_known(const NodeOutput& before, const NodeOutput& after) {
  return before.shape.is_known() != after.shape.is_known() || before.value != after.value;
}
}  // namespace

Rewrite::Rewrite(PlanGraph& plan)
    : plan_(plan),
      forwarding_(plan),
      is_better_known_(static_cast<size_t>(plan.impl().next_id), false),
      is_forwarded_(is_better_known_) {}

bool Rewrite::run(std::span<const Rule> rules) {
  // A rule may uncover work for another one, but each makes the node simpler.
  constexpr int kMostRewrites = 16;
  bool changed = false;
  for (OpNode* node : topological_order(plan_.impl())) {
    changed |= update_inputs(*node);
    for (int i = 0; i < kMostRewrites && !is_forwarded_[static_cast<size_t>(node->id)]; ++i) {
      const auto applies = [&](const Rule& rule) { return rule.apply(*this, *node); };
      if (std::none_of(rules.begin(), rules.end(), applies)) break;
      changed = true;
    }
  }
  if (!changed) return false;
  forwarding_.apply(plan_);
  drop_dead_nodes(plan_);
  return true;
}

bool Rewrite::update_inputs(OpNode& node) {
  bool changed = false, must_infer = false;
  for (Tensor& t : node.inputs) {
    const Tensor to = forwarding_.find(t);
    for (const OpNode* source : {t.node(), to.node()}) {
      const auto id = static_cast<size_t>(source->id);
      must_infer = must_infer || (id < is_better_known_.size() && is_better_known_[id]);
    }
    changed = changed || to != t;
    t = to;
  }
  if (must_infer) infer(node);
  return changed;
}

void Rewrite::infer(OpNode& node) {
  const std::vector<NodeOutput> before = node.outputs;
  plan_.impl().infer(node);
  MARTELLO_ASSERT(before.size() == node.outputs.size(), node.where(), "a pass changed its number of outputs");
  for (size_t i = 0; i < before.size(); ++i) {
    MARTELLO_ASSERT(before[i].dtype == node.outputs[i].dtype &&
                        (before[i].shape == node.outputs[i].shape || !before[i].shape.is_known()),
                    node.where(), "a pass changed ", before[i].spec(), " to ", node.outputs[i].spec());
    if (is_better_known(before[i], node.outputs[i])) is_better_known_[static_cast<size_t>(node.id)] = true;
  }
}

bool Rewrite::become(OpNode& node, const OpDef& def, std::vector<Tensor> inputs, Attrs attrs) {
  node.def = &def;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  infer(node);
  return true;
}

bool Rewrite::forward(OpNode& node, Tensor to) {
  if (!node.controls.empty()) return false;
  forward_output(node.output(0), to);
  is_forwarded_[static_cast<size_t>(node.id)] = true;
  return true;
}

void Rewrite::forward_output(Tensor from, Tensor to) {
  // Now: a rule may take the output away.
  if (is_better_known(output_of(from), output_of(to))) is_better_known_[static_cast<size_t>(from.node()->id)] = true;
  forwarding_.set(from, to);
}

Tensor Rewrite::add(const OpNode& origin, std::string_view suffix, const OpDef& def, std::vector<Tensor> inputs,
                    Attrs attrs) {
  Graph::Impl& graph = plan_.impl();
  OpNode* node = graph.add(def, std::move(inputs), std::move(attrs), graph.unique_name(str(origin.name, "/", suffix)),
                           origin.line);
  node->device = origin.device;
  node->recompute_scope = origin.recompute_scope;
  node->is_backward = origin.is_backward;
  return node->output(0);
}

bool is_pure(const OpNode& node) {
  return node.def->effect == Effect::none && !node.def->stateful && node.def->counter_input < 0;
}

const HostTensor* find_constant(Tensor t) {
  return t.node()->def == &op_constant ? &t.node()->attrs.get<ConstantAttrs>().value : nullptr;
}

bool has_subgraph(const OpNode& node) {
  if (node.attrs.is<NoAttrs>() || node.attrs.is<ConstantAttrs>()) return false;
  bool found = false;
  for_each_field<Subgraph>(node.attrs, [&](const char*, const Subgraph& body) { found = found || !body.is_null(); });
  return found;
}

void drop_dead_nodes(PlanGraph& plan) {
  std::vector<bool> is_needed(static_cast<size_t>(plan.impl().next_id), false);
  for (const OpNode* node : reachable_from(plan.impl(), plan.roots())) is_needed[static_cast<size_t>(node->id)] = true;
  for (const auto& node : plan.impl().nodes) {
    const bool acts = node->def->effect == Effect::write || node->def->effect == Effect::host;
    if (acts && !is_needed[static_cast<size_t>(node->id)]) plan.targets.push_back(Operation(node.get()));
  }
  prune(plan);
}

}  // namespace martello::internal
