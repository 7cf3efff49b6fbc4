#include <martello/passes/plan_graph.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/control.h>
#include <martello/ops/identity.h>

#include <algorithm>
#include <unordered_map>

namespace martello {

bool needs_no_kernel(const OpDef& def) {
  return def.is_alias || def.effect == Effect::feed || def.effect == Effect::variable || &def == &op_constant ||
         &def == &op_group;
}

bool gives_nothing(const OpNode& node) {
  const auto is_empty = [](const NodeOutput& o) {
    return !o.has_dynamic_rows && o.shape.is_known() && o.shape.num_elements() == 0;
  };
  return node.def->effect == Effect::none && !node.outputs.empty() &&
         std::all_of(node.outputs.begin(), node.outputs.end(), is_empty);
}

std::vector<OpNode*> PlanGraph::roots() const {
  std::vector<OpNode*> nodes;
  for (const Tensor& t : fetches) nodes.push_back(t.node());
  for (const Operation& o : targets) nodes.push_back(o.node());
  return nodes;
}

void PlanGraph::replace_uses(Tensor from, Tensor to) {
  for (const auto& node : impl().nodes)
    for (Tensor& t : node->inputs)
      if (t == from) t = to;
  std::replace(fetches.begin(), fetches.end(), from, to);
}

Users::Users(const PlanGraph& plan) : entries_(static_cast<size_t>(plan.impl().next_id)) {
  for (const auto& node : plan.impl().nodes) entries_[static_cast<size_t>(node->id)].resize(node->outputs.size());
  for (const auto& node : plan.impl().nodes)
    for (const Tensor& t : node->inputs)
      entries_[static_cast<size_t>(t.node()->id)][static_cast<size_t>(t.index())].users.push_back(node.get());
  for (const Tensor& t : plan.fetches)
    entries_[static_cast<size_t>(t.node()->id)][static_cast<size_t>(t.index())].is_fetched = true;
}

const Users::Entry* Users::find(Tensor t) const {
  const auto id = static_cast<size_t>(t.node()->id);
  return id < entries_.size() && static_cast<size_t>(t.index()) < entries_[id].size()
             ? &entries_[id][static_cast<size_t>(t.index())]
             : nullptr;
}

std::span<OpNode* const> Users::of(Tensor t) const {
  const Entry* entry = find(t);
  return entry ? std::span<OpNode* const>(entry->users) : std::span<OpNode* const>();
}

bool Users::is_fetched(Tensor t) const {
  const Entry* entry = find(t);
  return entry && entry->is_fetched;
}

namespace {

// Copies the needed nodes of one graph into another, in creation order.
class Extraction {
 public:
  Extraction(const Graph& graph, const std::vector<Tensor>& feeds, const std::vector<Shape>& shapes) : source_(graph) {
    plan_.impl().seed = graph.seed();
    plan_.impl().is_initializer = graph.impl().is_initializer;
    for (size_t i = 0; i < feeds.size(); ++i) feed_index_[{feeds[i].node(), feeds[i].index()}] = i;
    feeds_ = feeds;
    shapes_ = shapes;
    plan_.feeds.resize(feeds.size());
  }

  PlanGraph take(const std::vector<Tensor>& fetches, const std::vector<Operation>& targets) {
    for (OpNode* node : needed(fetches, targets)) copy(*node);
    for (const Tensor& t : fetches) plan_.fetches.push_back(mapped(t));
    for (const Operation& o : targets) plan_.targets.push_back(Operation(nodes_.at(o.node())));
    return std::move(plan_);
  }

 private:
  using Key = std::pair<const OpNode*, int>;
  struct KeyHash {
    size_t operator()(const Key& k) const {
      return std::hash<const void*>()(k.first) * 31 + static_cast<size_t>(k.second);
    }
  };

  bool is_fed(const Tensor& t) const { return feed_index_.contains({t.node(), t.index()}); }

  // Walks back from the roots, stopping at fed tensors.
  std::vector<OpNode*> needed(const std::vector<Tensor>& fetches, const std::vector<Operation>& targets) {
    std::vector<OpNode*> stack, found;
    std::vector<bool> is_seen(static_cast<size_t>(source_.impl().next_id), false);
    const auto push = [&](OpNode* node) {
      if (is_seen[static_cast<size_t>(node->id)]) return;
      is_seen[static_cast<size_t>(node->id)] = true;
      stack.push_back(node);
      found.push_back(node);
    };
    for (const Operation& o : targets) push(o.node());
    for (const Tensor& t : fetches)
      if (!is_fed(t)) push(t.node());
    while (!stack.empty()) {
      OpNode* node = stack.back();
      stack.pop_back();
      for (const Tensor& t : node->inputs)
        if (!is_fed(t)) push(t.node());
      for (OpNode* c : node->controls) push(c);
    }
    std::sort(found.begin(), found.end(), [](const OpNode* a, const OpNode* b) { return a->id < b->id; });
    if (!is_topological(found)) found = reachable_order(found);
    return found;
  }

  bool is_topological(const std::vector<OpNode*>& nodes) const {
    return std::all_of(nodes.begin(), nodes.end(), [](const OpNode* n) {
      return std::all_of(n->controls.begin(), n->controls.end(), [&](const OpNode* c) { return c->id < n->id; });
    });
  }

  // Control edges added later may point forward; a cycle is refused here.
  std::vector<OpNode*> reachable_order(const std::vector<OpNode*>& nodes) const {
    std::vector<bool> is_needed(static_cast<size_t>(source_.impl().next_id), false);
    for (const OpNode* n : nodes) is_needed[static_cast<size_t>(n->id)] = true;
    std::vector<OpNode*> order;
    for (OpNode* n : reachable_from(source_.impl(), nodes))
      if (is_needed[static_cast<size_t>(n->id)]) order.push_back(n);
    return order;
  }

  void copy(OpNode& node) {
    if (node.def == &op_placeholder && is_fed(node.output(0))) {  // reached through a control edge
      nodes_[&node] = mapped(node.output(0)).node();
      return;
    }
    if (node.def == &op_placeholder)
      throw InvalidArgument(str(node.where(), "needs a value: ", node.outputs[0].spec(),
                                " was not fed. Add it to the feeds of the run.\n  ", node.context()));
    check_writes(node);
    std::vector<Tensor> inputs;
    for (const Tensor& t : node.inputs) inputs.push_back(mapped(t));
    // Its shape fits every feed; without one it is its default.
    const bool is_default = node.def == &op_placeholder_with_default;
    OpNode* made = plan_.impl().add(is_default ? op_identity : *node.def, std::move(inputs),
                                    is_default ? Attrs() : node.attrs, node.name, node.line);
    made->device = node.device;
    made->recompute_scope = node.recompute_scope;
    made->is_backward = node.is_backward;
    for (const OpNode* c : node.controls) made->controls.push_back(nodes_.at(c));
    nodes_[&node] = made;
  }

  void check_writes(const OpNode& node) const {
    if (!node.def->targets) return;
    for (int i : node.def->targets(node.attrs, static_cast<int>(node.inputs.size()))) {
      const Tensor& target = node.inputs[static_cast<size_t>(i)];
      MARTELLO_CHECK(!is_fed(target), node.where(), "writes variable '", target.name(),
                     "', which this run is fed. Feed it or write it, not both.\n  ", node.context());
    }
  }

  Tensor mapped(const Tensor& t) {
    const auto feed = feed_index_.find({t.node(), t.index()});
    if (feed == feed_index_.end()) return Tensor(Operation(nodes_.at(t.node())), t.index());
    Tensor& made = plan_.feeds[feed->second];
    if (made.is_null()) made = make_feed(t, shapes_[feed->second]);
    return made;
  }

  Tensor make_feed(const Tensor& t, const Shape& shape) {
    std::string name = t.name();
    std::replace(name.begin(), name.end(), ':', '_');
    OpNode* node = plan_.impl().add(op_placeholder, {}, Attrs(PlaceholderAttrs{shape.without_symbols(), t.dtype()}),
                                    plan_.impl().unique_name(name), t.node()->line);
    node->device = t.node()->device;
    return node->output(0);
  }

  Graph source_;
  PlanGraph plan_;
  std::vector<Tensor> feeds_;
  std::vector<Shape> shapes_;
  std::unordered_map<Key, size_t, KeyHash> feed_index_;
  std::unordered_map<const OpNode*, OpNode*> nodes_;
};

bool has_one_device(const Graph& graph) {
  const auto& nodes = graph.impl().nodes;
  return std::all_of(nodes.begin(), nodes.end(), [&](const auto& node) { return node->device == nodes[0]->device; });
}

}  // namespace

PlanGraph extract(const Graph& graph, const std::vector<Tensor>& fetches, const std::vector<Operation>& targets,
                  const std::vector<Tensor>& feeds, const std::vector<Shape>& feed_shapes) {
  PlanGraph plan = Extraction(graph, feeds, feed_shapes).take(fetches, targets);
  plan.has_one_device = has_one_device(graph);
  return plan;
}

bool prune(PlanGraph& plan) {
  std::vector<OpNode*> roots = plan.roots();
  const auto kept = reachable_from(plan.impl(), roots);
  std::vector<bool> keep(static_cast<size_t>(plan.impl().next_id), false);
  for (const OpNode* node : kept) keep[static_cast<size_t>(node->id)] = true;
  if (kept.size() == plan.impl().nodes.size()) return false;
  for (Tensor& feed : plan.feeds)
    if (!feed.is_null() && !keep[static_cast<size_t>(feed.node()->id)]) feed = Tensor();
  plan.impl().erase_unmarked(keep);
  return true;
}

}  // namespace martello
