// Values that gradients read long after they were made, in a RecomputeScope and cheap:
//   %h = gelu(%z) recompute(1)        ...  %dw = matmul(%h, %dz) backward
//   =>  %h = gelu(%z) recompute(1)    ...  %h/again = gelu(%z) backward  %dw = matmul(%h/again, %dz) backward
// A node runs when its first user needs it, so the copy comes late and %h dies early.
#include <martello/base/checked.h>
#include <martello/graph/core_ops.h>
#include <martello/passes/internal/rewrite.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace martello {
namespace {

// What computing again may cost per element, and per byte, that it makes: random numbers, a softmax and the passes of a
// normalization are within, products and sums over many numbers are not.
constexpr double kMostFlops = 20, kMostBytesMoved = 8;
constexpr int kLongestChain = 8;

int64_t bytes_of(const NodeOutput& out) {
  return out.shape.is_known() ? checked_mul(out.shape.num_elements(), size_of(out.dtype)) : 0;
}

// Random ops too: the same key and counter give the same numbers.
bool gives_the_same_again(const OpNode& node) {
  return node.def->effect == Effect::none && !node.def->stateful && node.def != &op_constant &&
         !internal::has_subgraph(node);
}

bool is_cheap(const OpNode& node) {
  const auto is_fixed = [](const NodeOutput& o) { return o.shape.is_known() && !o.has_dynamic_rows; };
  if (node.def->formula || node.def->is_alias) return true;
  if (!node.def->cost || !std::all_of(node.outputs.begin(), node.outputs.end(), is_fixed)) return false;
  std::vector<TensorSpec> in, out;
  for (const Tensor& t : node.inputs) {
    if (!is_fixed(output_of(t))) return false;
    in.push_back(output_of(t).spec());
  }
  double elements = 0, bytes = 0;
  for (const NodeOutput& o : node.outputs) {
    out.push_back(o.spec());
    elements += static_cast<double>(o.shape.num_elements());
    bytes += static_cast<double>(bytes_of(o));
  }
  const Cost cost = node.def->cost(in, out, node.attrs);
  return cost.flops <= kMostFlops * elements && cost.bytes <= kMostBytesMoved * bytes;
}

class Recomputation {
 public:
  explicit Recomputation(PlanGraph& plan)
      : plan_(plan),
        users_(plan),
        order_(topological_order(plan.impl())),
        position_(static_cast<size_t>(plan.impl().next_id), 0),
        group_of_(position_),
        scope_of_(position_.size(), 0),
        is_candidate_(position_.size(), false),
        copies_(position_.size(), nullptr) {
    for (size_t i = 0; i < order_.size(); ++i) position_[index(*order_[i])] = static_cast<int>(i);
    for (OpNode* node : order_) {
      scope_of_[index(*node)] = find_scope(*node);
      is_candidate_[index(*node)] = is_candidate(*node);
    }
    for (const Operation& target : plan.targets) is_candidate_[index(*target.node())] = false;
  }

  // Last groups first: what they read must stay, so groups before them do not make it again.
  bool run() {
    bool changed = false;
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (!is_candidate_[index(**it)] || group_of_[index(**it)] != 0) continue;
      std::vector<OpNode*> group = take_group(**it);
      cut_chains(group);
      const std::vector<OpNode*> wanted = find_wanted(group);
      if (wanted.empty() || !pays(wanted)) continue;
      for (OpNode* node : wanted) copy(*node);
      changed = true;
    }
    if (!changed) return false;
    send_gradients_to_copies();
    internal::drop_dead_nodes(plan_);
    return true;
  }

 private:
  using Key = std::pair<const OpNode*, int>;
  static size_t index(const OpNode& node) { return static_cast<size_t>(node.id); }
  static Key key(const Tensor& t) { return {t.node(), t.index()}; }
  int group_of(const Tensor& t) const { return group_of_[index(*t.node())]; }

  // Gradients may read a value through a reshape outside the scope, which costs nothing to make again.
  int64_t find_scope(const OpNode& node) const {
    if (node.recompute_scope != 0 || !node.def->is_alias) return node.recompute_scope;
    const size_t source = index(*node.inputs[0].node());
    return is_candidate_[source] ? scope_of_[source] : 0;
  }

  bool is_candidate(OpNode& node) const {
    if (scope_of_[index(node)] == 0 || node.is_backward || !gives_the_same_again(node) || !is_cheap(node)) return false;
    const TensorList outputs = outputs_of(Operation(&node));
    return std::none_of(outputs.begin(), outputs.end(), [&](const Tensor& t) { return users_.is_fetched(t); });
  }

  // Candidates of one scope that hang together; inputs first.
  std::vector<OpNode*> take_group(OpNode& first) {
    std::vector<OpNode*> group;
    const int number = ++groups_;
    const auto push = [&](OpNode* node) {
      const bool belongs = is_candidate_[index(*node)] && scope_of_[index(*node)] == scope_of_[index(first)];
      if (belongs && std::exchange(group_of_[index(*node)], number) != number) group.push_back(node);
    };
    push(&first);
    for (size_t i = 0; i < group.size(); ++i) {
      OpNode* node = group[i];
      for (const Tensor& t : node->inputs) push(t.node());
      for (const Tensor& t : outputs_of(Operation(node)))
        for (OpNode* user : users_.of(t)) push(user);
    }
    std::sort(group.begin(), group.end(),
              [&](const OpNode* a, const OpNode* b) { return position_[index(*a)] < position_[index(*b)]; });
    return group;
  }

  bool is_read_by_gradients(const Tensor& t) const {
    const auto users = users_.of(t);
    return std::any_of(users.begin(), users.end(), [](const OpNode* user) { return user->is_backward; });
  }

  bool is_read_by_gradients(OpNode& node) const {
    const TensorList outputs = outputs_of(Operation(&node));
    return std::any_of(outputs.begin(), outputs.end(), [&](const Tensor& t) { return is_read_by_gradients(t); });
  }

  // The end of a long chain would bring all its values back at once: every so often one stays.
  void cut_chains(std::vector<OpNode*>& group) {
    std::map<const OpNode*, int> length;  // in values that gradients read
    std::erase_if(group, [&](OpNode* node) {
      int longest = 0;
      for (const Tensor& t : node->inputs)
        if (const auto it = length.find(t.node()); it != length.end()) longest = std::max(longest, it->second);
      if (is_read_by_gradients(*node)) ++longest;
      if (longest <= kLongestChain) {
        length[node] = longest;
        return false;
      }
      is_candidate_[index(*node)] = false;
      group_of_[index(*node)] = 0;
      return true;
    });
  }

  // Those whose outputs gradients read, and what they need of their group; inputs first.
  std::vector<OpNode*> find_wanted(const std::vector<OpNode*>& group) const {
    std::set<const OpNode*> is_wanted;
    std::vector<OpNode*> wanted;
    for (auto it = group.rbegin(); it != group.rend(); ++it) {
      if (!is_read_by_gradients(**it) && !is_wanted.contains(*it)) continue;
      wanted.push_back(*it);
      for (const Tensor& t : (*it)->inputs) is_wanted.insert(t.node());
    }
    std::reverse(wanted.begin(), wanted.end());
    return wanted;
  }

  // Whether the values that need not be kept are larger than those that must be kept instead, which then are.
  bool pays(const std::vector<OpNode*>& wanted) {
    const int group = group_of_[index(*wanted[0])];
    std::set<Key> gone, kept;
    int64_t saved = 0;
    for (OpNode* node : wanted) {
      for (const Tensor& t : node->inputs)
        if (const Tensor source = alias_source(t); group_of(t) != group && kept.insert(key(source)).second)
          saved -= added_bytes(source);
      for (const Tensor& t : outputs_of(Operation(node)))
        if (const Tensor source = alias_source(t);
            is_read_by_gradients(t) && group_of(source) == group && gone.insert(key(source)).second)
          saved += bytes_of(output_of(source));
    }
    if (saved <= 0) return false;
    for (const Key& k : kept) is_candidate_[index(*k.first)] = false;
    kept_.merge(kept);
    return true;
  }

  // Of a value that nothing but a copy would keep.
  int64_t added_bytes(const Tensor& source) const {
    const bool has_no_scratch = needs_no_kernel(*source.node()->def);
    return has_no_scratch || kept_.contains(key(source)) || is_kept_anyway(source) ? 0 : bytes_of(output_of(source));
  }

  bool is_kept_anyway(const Tensor& t) const {
    if (users_.is_fetched(t) || is_read_by_gradients(t)) return true;
    const auto users = users_.of(t);
    return std::any_of(users.begin(), users.end(), [&](OpNode* user) {
      return user->def->is_alias && !is_candidate_[index(*user)] && is_kept_anyway(user->output(0));
    });
  }

  void copy(OpNode& node) {
    std::vector<Tensor> inputs;
    for (const Tensor& t : node.inputs)
      inputs.push_back(group_of(t) == group_of_[index(node)] ? copies_[index(*t.node())]->output(t.index()) : t);
    Graph::Impl& graph = plan_.impl();
    OpNode* made =
        graph.add(*node.def, std::move(inputs), node.attrs, graph.unique_name(node.name + "/again"), node.line);
    made->outputs = node.outputs;
    made->device = node.device;
    made->controls = node.controls;
    made->is_backward = true;
    copies_[index(node)] = made;
  }

  void send_gradients_to_copies() {
    for (OpNode* node : order_) {
      if (!node->is_backward) continue;
      for (Tensor& t : node->inputs)
        if (OpNode* made = copies_[index(*t.node())]) t = made->output(t.index());
    }
  }

  PlanGraph& plan_;
  Users users_;
  std::vector<OpNode*> order_;
  std::vector<int> position_, group_of_;  // by node id; groups count from 1
  std::vector<int64_t> scope_of_;
  std::vector<bool> is_candidate_;
  std::vector<OpNode*> copies_;
  std::set<Key> kept_;
  int groups_ = 0;
};

}  // namespace

bool recompute(PlanGraph& plan) {
  const auto& nodes = plan.impl().nodes;
  const bool is_asked = std::any_of(nodes.begin(), nodes.end(), [](const auto& n) { return n->recompute_scope > 0; });
  return is_asked && Recomputation(plan).run();
}

}  // namespace martello
