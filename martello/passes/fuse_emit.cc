#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/fused.h>
#include <martello/ops/reduce.h>
#include <martello/passes/internal/fuse.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace martello::internal {
namespace {

FusedReduction reduction_of(const OpDef& def) {
  if (&def == &op_reduce_sum) return FusedReduction::sum;
  if (&def == &op_reduce_mean) return FusedReduction::mean;
  if (&def == &op_reduce_max) return FusedReduction::max;
  return &def == &op_reduce_min ? FusedReduction::min : FusedReduction::prod;
}

// Builds the body of a group beside it.
class Body {
 public:
  explicit Body(const std::vector<OpNode*>& nodes) : is_member_(nodes.begin(), nodes.end()) {
    for (OpNode* node : nodes) copy(*node);
  }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  Subgraph finish(const std::vector<OpNode*>& outputs) {
    std::vector<Tensor> results;
    for (OpNode* node : outputs) results.push_back(inside(node->output(0)));
    graph_.finalize();
    return Subgraph(graph_, args_, std::move(results));
  }

 private:
  struct Hash {
    size_t operator()(const Tensor& t) const {
      return std::hash<const void*>()(t.node()) * 31 + static_cast<size_t>(t.index());
    }
  };

  void copy(OpNode& node) {
    std::vector<Tensor> inputs;
    for (const Tensor& t : node.inputs) inputs.push_back(inside(t));
    inside_[node.output(0)] = add(*node.def, std::move(inputs), node.attrs, node.name, node.line);
  }

  Tensor inside(Tensor t) {
    if (const auto it = inside_.find(t); it != inside_.end()) return it->second;
    MARTELLO_ASSERT(!is_member_.contains(t.node()), "[fuse] '", t.name(), "' is read before it is computed");
    const bool is_number = t.node()->def == &op_constant && t.rank() == 0;
    Tensor& made = inside_[t];
    if (is_number) return made = add(op_constant, {}, t.node()->attrs, t.node()->name, t.node()->line);
    std::string name = t.name();
    std::replace(name.begin(), name.end(), ':', '_');
    made = add(op_arg, {}, Attrs(PlaceholderAttrs{t.shape().without_symbols(), t.dtype()}), name, t.node()->line);
    made.node()->outputs[0].has_dynamic_rows = has_dynamic_rows(t);
    inputs_.push_back(t);
    args_.push_back(made);
    return made;
  }

  Tensor add(const OpDef& def, std::vector<Tensor> inputs, Attrs attrs, const std::string& name, SourceLine line) {
    Graph::Impl& impl = graph_.impl();
    return impl.add(def, std::move(inputs), std::move(attrs), impl.unique_name(name), line)->output(0);
  }

  Graph graph_;
  std::unordered_set<const OpNode*> is_member_;
  std::unordered_map<Tensor, Tensor, Hash> inside_;
  std::vector<Tensor> inputs_, args_;
};

bool is_seen_outside(const FuseContext& context, OpNode& node, const std::unordered_set<const OpNode*>& members) {
  if (context.users().is_fetched(node.output(0))) return true;
  const auto users = context.users().of(node.output(0));
  return std::any_of(users.begin(), users.end(), [&](const OpNode* user) { return !members.contains(user); });
}

void set_fused(PlanGraph& plan, OpNode& node, const Body& body, FusedAttrs attrs) {
  node.def = attrs.reduction == FusedReduction::none ? &op_fused : &op_fused_reduce;
  node.inputs = body.inputs();
  node.attrs = Attrs(std::move(attrs));
  const NodeOutput before = node.outputs[0];
  plan.impl().infer(node);
  MARTELLO_ASSERT(node.outputs[0].shape == before.shape && node.outputs[0].dtype == before.dtype &&
                      node.outputs[0].has_dynamic_rows == before.has_dynamic_rows,
                  node.where(), "fusion changed ", before.spec(), " to ", node.outputs[0].spec());
}

}  // namespace

void emit_group(PlanGraph& plan, const FuseContext& context, const FuseGroup& group, Forwarding& forwarding) {
  std::vector<OpNode*> nodes = group.nodes;
  std::sort(nodes.begin(), nodes.end(),
            [&](const OpNode* a, const OpNode* b) { return context.position(*a) < context.position(*b); });
  Body body(nodes);
  if (group.reduce) {
    const auto& attrs = group.reduce->attrs.get<ReduceAttrs>();
    set_fused(plan, *group.reduce, body,
              {body.finish({nodes.back()}), reduction_of(*group.reduce->def), attrs.axes, attrs.keep_dims});
    return;
  }
  const std::unordered_set<const OpNode*> members(nodes.begin(), nodes.end());
  std::vector<OpNode*> outputs;
  for (OpNode* node : nodes)
    if (node == nodes.back() || is_seen_outside(context, *node, members)) outputs.push_back(node);
  // The last one that is not rounded comes first: it gives the node its name, and its result takes the memory of an
  // input.
  const auto is_wide = [](const OpNode* node) { return node->outputs[0].dtype != bf16; };
  const auto last_wide = std::find_if(outputs.rbegin(), outputs.rend(), is_wide);
  if (last_wide != outputs.rend()) std::rotate(outputs.begin(), last_wide.base() - 1, last_wide.base());
  else std::rotate(outputs.begin(), outputs.end() - 1, outputs.end());
  OpNode& fused = *outputs[0];
  set_fused(plan, fused, body, {.body = body.finish(outputs)});
  for (size_t i = 1; i < outputs.size(); ++i) forwarding.set(outputs[i]->output(0), fused.output(static_cast<int>(i)));
}

}  // namespace martello::internal
