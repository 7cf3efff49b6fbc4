#include <martello/graph/core_ops.h>
#include <martello/ops/fused.h>
#include <martello/ops/reduce.h>
#include <martello/passes/internal/fuse.h>

#include <algorithm>

namespace martello::internal {
namespace {

constexpr size_t kMostNodes = 48, kMostInputs = 8;
constexpr int kMostOutputs = 4, kMostRank = 8, kNone = -1;
static_assert(kMostNodes <= kMaxFusedNodes && kMostInputs <= kMaxFusedInputs && kMostOutputs <= kMaxFusedOutputs);

bool is_reduction(const OpNode& node) {
  return node.def == &op_reduce_sum || node.def == &op_reduce_mean || node.def == &op_reduce_max ||
         node.def == &op_reduce_min || node.def == &op_reduce_prod;
}

bool is_scalar_constant(Tensor t) { return t.node()->def == &op_constant && t.rank() == 0; }

void add_inputs(std::vector<Tensor>& list, const std::vector<Tensor>& more) {
  for (const Tensor& t : more)
    if (!is_scalar_constant(t) && std::find(list.begin(), list.end(), t) == list.end()) list.push_back(t);
}

bool agree(std::optional<DType> a, std::optional<DType> b) { return !a || !b || *a == *b; }

// Walks from the results to the feeds: when a node is looked at, all its users have their place.
class Grouping {
 public:
  explicit Grouping(const FuseContext& context)
      : context_(context), group_of_(context.order().size(), kNone), level_(group_of_.size(), 0) {
    for (size_t i = context.order().size(); i-- > 0;) visit(*context.order()[i]);
  }

  std::vector<FuseGroup> take() {
    std::erase_if(groups_, [](const FuseGroup& g) {
      return g.nodes.size() + (g.reduce ? 1 : 0) < 2 || g.nodes.empty() || g.inputs.empty();
    });
    return std::move(groups_);
  }

 private:
  size_t place(const OpNode& node) const { return static_cast<size_t>(context_.position(node)); }
  int group_of(const OpNode& node) const { return group_of_[place(node)]; }
  FuseGroup& at(int group) { return groups_[static_cast<size_t>(group)]; }
  int level_of(const OpNode& node) const {
    const int group = group_of(node);
    return group == kNone ? level_[place(node)] : groups_[static_cast<size_t>(group)].level;
  }

  void visit(OpNode& node) {
    int level = 0;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      for (const OpNode* user : context_.users().of(node.output(static_cast<int>(i))))
        level = std::max(level, level_of(*user) + 1);
    for (const OpNode* user : context_.after(node)) level = std::max(level, level_of(*user) + 1);
    level_[place(node)] = level;
    if (is_fusable(node) && node.outputs[0].shape.is_known() && node.outputs[0].shape.rank() <= kMostRank &&
        !context_.is_pinned(node)) {
      if (!join(node)) start(node);
    } else if (is_reduction(node) && can_take_reduction(node)) {
      start_reduction(node);
    }
  }

  void start(OpNode& node) {
    const NodeOutput& out = node.outputs[0];
    FuseGroup group{.shape = out.shape, .dtype = find_computing_dtype(node), .has_dynamic_rows = out.has_dynamic_rows};
    group.nodes = {&node};
    add_inputs(group.inputs, node.inputs);
    group.is_staged = context_.is_staged(node);
    group.device = node.device;
    group.outputs = 1;
    push(std::move(group), node);
  }

  bool can_take_reduction(OpNode& node) const {
    OpNode& value = *node.inputs[0].node();
    const DType dtype = node.outputs[0].dtype;
    return is_fusable(value) && context_.find_only_user(value) == &node && (dtype == f32 || dtype == f64);
  }

  void start_reduction(OpNode& node) {
    const NodeOutput& value = output_of(node.inputs[0]);
    FuseGroup group{.reduce = &node, .shape = value.shape, .dtype = value.dtype};
    group.inputs = {node.inputs[0]};
    group.has_dynamic_rows = value.has_dynamic_rows;
    group.is_staged = context_.is_staged(node);
    group.device = node.device;
    group.outputs = 1;
    push(std::move(group), node);
  }

  void push(FuseGroup group, OpNode& node) {
    group.level = level_of(node);
    group_of_[place(node)] = static_cast<int>(groups_.size());
    groups_.push_back(std::move(group));
  }

  // Into the group of its users: as a value inside when all of them are there, else as one more output.
  bool join(OpNode& node) {
    const int best = find_best(node);
    if (best == kNone) return false;
    const bool is_inside = is_all_in(node, best);
    // Merging may have given the group a dtype that the node does not compute in.
    if (!is_inside && (!can_have_output(node, best) || !fits(node, at(best)))) return false;
    FuseGroup& group = at(best);
    std::vector<Tensor> inputs = group.inputs;
    std::erase(inputs, node.output(0));
    add_inputs(inputs, node.inputs);
    if (inputs.size() > kMostInputs || group.nodes.size() == kMostNodes) return false;
    group.inputs = std::move(inputs);
    group.nodes.push_back(&node);
    group.outputs += is_inside ? 0 : 1;
    if (!group.dtype) group.dtype = find_computing_dtype(node);
    group_of_[place(node)] = best;
    return true;
  }

  // Of the groups that its users are in and it could be in, the one of the greatest level.
  int find_best(OpNode& node) const {
    int best = kNone;
    for (const OpNode* user : context_.users().of(node.output(0))) {
      const int group = group_of(*user);
      if (group == kNone || group == best || !fits(node, groups_[static_cast<size_t>(group)])) continue;
      if (best == kNone || level_of(*user) > groups_[static_cast<size_t>(best)].level) best = group;
    }
    return best;
  }

  bool fits(const OpNode& node, const FuseGroup& group) const {
    const NodeOutput& out = node.outputs[0];
    return out.shape == group.shape && out.has_dynamic_rows == group.has_dynamic_rows && node.device == group.device &&
           agree(find_computing_dtype(node), group.dtype);
  }

  bool is_all_in(OpNode& node, int group) const {
    const auto users = context_.users().of(node.output(0));
    return !context_.users().is_fetched(node.output(0)) &&
           std::all_of(users.begin(), users.end(), [&](const OpNode* user) { return group_of(*user) == group; });
  }

  // See Note [Levels]. Users in other groups of the same level are merged into this one first.
  bool can_have_output(OpNode& node, int best) {
    if (at(best).reduce || at(best).outputs == kMostOutputs || at(best).is_staged) return false;
    for (const OpNode* user : context_.users().of(node.output(0))) {
      const int other = group_of(*user);
      if (other == best || level_of(*user) < at(best).level) continue;
      if (other == kNone || !merge(other, best)) return false;
    }
    return at(best).outputs < kMostOutputs || is_all_in(node, best);
  }

  bool merge(int from, int to) {
    FuseGroup &a = at(from), &b = at(to);
    const bool is_alike = a.shape == b.shape && agree(a.dtype, b.dtype) && a.device == b.device && a.level == b.level &&
                          a.has_dynamic_rows == b.has_dynamic_rows && !a.reduce && !a.is_staged;
    if (!is_alike || a.nodes.size() + b.nodes.size() > kMostNodes || a.outputs + b.outputs > kMostOutputs) return false;
    std::vector<Tensor> inputs = b.inputs;
    add_inputs(inputs, a.inputs);
    if (inputs.size() > kMostInputs) return false;
    b.inputs = std::move(inputs);
    b.outputs += a.outputs;
    if (!b.dtype) b.dtype = a.dtype;
    for (OpNode* node : a.nodes) group_of_[place(*node)] = to;
    b.nodes.insert(b.nodes.end(), a.nodes.begin(), a.nodes.end());
    a = FuseGroup();
    return true;
  }

  const FuseContext& context_;
  std::vector<FuseGroup> groups_;
  std::vector<int> group_of_, level_;  // by position in the order
};

}  // namespace

std::vector<FuseGroup> find_groups(const FuseContext& context) { return Grouping(context).take(); }

}  // namespace martello::internal
