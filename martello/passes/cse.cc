// Common subexpressions:
//   %a = exp(%x)  %b = exp(%x)  %y = add(%a, %b)  =>  %a = exp(%x)  %y = add(%a, %a)
#include <martello/graph/internal/field_visitor.h>
#include <martello/passes/internal/rewrite.h>

#include <cmath>
#include <string>
#include <unordered_set>

namespace martello {
namespace {

// Attributes that are equal may still mean other bits: 0 and -0.
std::vector<bool> signs(const Attrs& attrs) {
  std::vector<bool> list;
  internal::for_each_field<double>(attrs, [&](const char*, double v) { list.push_back(std::signbit(v)); });
  internal::for_each_field<std::vector<double>>(attrs, [&](const char*, const std::vector<double>& values) {
    for (const double v : values) list.push_back(std::signbit(v));
  });
  return list;
}

// A node as what it computes. Order of inputs counts: a + b and b + a may differ in the bits of a NaN.
struct Same {
  bool operator()(const OpNode* a, const OpNode* b) const {
    return a->def == b->def && a->inputs == b->inputs && a->device == b->device && a->controls == b->controls &&
           a->attrs == b->attrs && signs(a->attrs) == signs(b->attrs);
  }
};

struct Hash {
  size_t operator()(const OpNode* node) const {
    size_t hash = std::hash<const void*>()(node->def) ^ static_cast<size_t>(node->attrs.hash());
    const auto mix = [&](size_t v) { hash = (hash ^ v) * 0x9E3779B97F4A7C15ULL; };
    for (const Tensor& t : node->inputs) mix(static_cast<size_t>(t.node()->id) * 16 + static_cast<size_t>(t.index()));
    for (const OpNode* c : node->controls) mix(static_cast<size_t>(c->id));
    mix(std::hash<std::string>()(node->device));
    return hash ^ hash >> 32;
  }
};

bool can_merge(const OpNode& node) {
  return internal::is_pure(node) && !node.outputs.empty() && !internal::has_subgraph(node);
}

}  // namespace

bool cse(PlanGraph& plan) {
  internal::Forwarding forwarding(plan);
  std::unordered_set<OpNode*, Hash, Same> seen;
  std::vector<OpNode*> instead(static_cast<size_t>(plan.impl().next_id), nullptr);
  const auto standing_for = [&](OpNode* node) {
    OpNode* other = instead[static_cast<size_t>(node->id)];
    return other ? other : node;
  };
  bool changed = false;
  for (OpNode* node : topological_order(plan.impl())) {
    for (Tensor& t : node->inputs) t = forwarding.find(t);
    for (OpNode*& c : node->controls) c = standing_for(c);
    if (!can_merge(*node)) continue;
    const auto [it, is_new] = seen.insert(node);
    if (is_new) continue;
    for (size_t i = 0; i < node->outputs.size(); ++i)
      forwarding.set(node->output(static_cast<int>(i)), (*it)->output(static_cast<int>(i)));
    instead[static_cast<size_t>(node->id)] = *it;
    changed = true;
  }
  if (!changed) return false;
  forwarding.apply(plan);
  for (Operation& target : plan.targets) target = Operation(standing_for(target.node()));
  internal::drop_dead_nodes(plan);
  return true;
}

}  // namespace martello
