#include <martello/graph/inline.h>

#include <martello/base/error.h>
#include <martello/graph/build_context.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/internal/field_visitor.h>

#include <algorithm>
#include <unordered_set>

namespace martello {
namespace {

std::vector<OpNode*> nodes_of(const TensorList& tensors) {
  std::vector<OpNode*> nodes;
  for (const Tensor& t : tensors) nodes.push_back(t.node());
  return nodes;
}

bool has_bodies(const OpNode& node) {
  bool found = false;
  internal::for_each_field<Subgraph>(node.attrs,
                                     [&](const char*, const Subgraph& body) { found = found || !body.is_null(); });
  return found;
}

Attrs attrs_without_actions(const OpNode& node) {
  const auto copy = node.attrs.type()->copy(node.attrs.raw());
  auto edit = [](const char*, auto& v, const auto&...) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(v)>, Subgraph>)
      if (!v.is_null()) v = without_actions(v);
  };
  internal::EachField visitor(edit);
  node.attrs.type()->visit(copy.get(), visitor);
  return Attrs(copy, node.attrs.type());
}

enum class Actions { keep, leave_out };

// Copies what the outputs of a body need into another graph.
class BodyCopy {
 public:
  BodyCopy(const Subgraph& body, Graph::Impl& to, std::string prefix, Actions actions)
      : body_(body), to_(to), prefix_(std::move(prefix)), actions_(actions) {}

  TensorList make(const TensorList& inputs) {
    MARTELLO_CHECK(inputs.size() == body_.inputs().size(), "[subgraph] a body of ", body_.inputs().size(),
                   " inputs was given ", inputs.size(), ".");
    for (size_t i = 0; i < inputs.size(); ++i) copies_[body_.inputs()[i].node()] = {inputs[i]};
    const auto reached = reachable_from(body_.graph().impl(), nodes_of(body_.outputs()));
    const std::unordered_set<const OpNode*> needed(reached.begin(), reached.end());
    for (const auto& node : body_.graph().impl().nodes)
      if (needed.contains(node.get()) && node->def != &op_arg) copy(*node);
    for (const auto& [from, made] : nodes_)
      for (const OpNode* c : from->controls)
        if (const auto it = nodes_.find(c); it != nodes_.end()) made->controls.push_back(it->second);
    std::vector<Tensor> outputs;
    for (const Tensor& t : body_.outputs()) outputs.push_back(mapped(t));
    return outputs;
  }

  // What closures over the body's tensors mean in the new graph.
  void record_stand_ins() {
    InlinedBody record{body_.graph(), copies_};
    for (const InlinedBody& earlier : body_.graph().impl().inlined)
      for (const auto& [node, tensors] : earlier.stand_ins) {
        const bool is_copied =
            std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return copies_.contains(t.node()); });
        if (!is_copied) continue;
        auto& list = record.stand_ins[node];
        for (const Tensor& t : tensors) list.push_back(mapped(t));
      }
    to_.inlined.push_back(std::move(record));
  }

 private:
  Tensor mapped(const Tensor& t) const { return copies_.at(t.node())[static_cast<size_t>(t.index())]; }

  void copy(OpNode& node) {
    const bool is_left_out = actions_ == Actions::leave_out && node.def->effect == Effect::host;
    if (is_left_out && node.outputs.empty()) return;
    if (is_left_out && node.def->is_pass_through) {
      copies_[&node] = {mapped(node.inputs[0])};
      return;
    }
    std::vector<Tensor> inputs;
    for (const Tensor& t : node.inputs) inputs.push_back(mapped(t));
    Attrs attrs = actions_ == Actions::leave_out && has_bodies(node) ? attrs_without_actions(node) : node.attrs;
    OpNode* made =
        to_.add(*node.def, std::move(inputs), std::move(attrs), to_.unique_name(prefix_ + node.name), node.line);
    made->device = node.device;
    made->recompute_scope = node.recompute_scope;
    made->is_backward = node.is_backward;
    made->gradient_override = node.gradient_override;
    if (actions_ == Actions::keep) nodes_[&node] = made;
    for (size_t i = 0; i < made->outputs.size(); ++i) copies_[&node].push_back(made->output(static_cast<int>(i)));
  }

  const Subgraph& body_;
  Graph::Impl& to_;
  std::string prefix_;
  Actions actions_;
  std::unordered_map<const OpNode*, std::vector<Tensor>> copies_;
  std::unordered_map<const OpNode*, OpNode*> nodes_;  // whose control edges are copied
};

OpNode* add_arg(Graph::Impl& graph, const OpNode& like, NodeOutput output) {
  OpNode* arg = graph.add(op_arg, {}, Attrs(PlaceholderAttrs{output.shape.without_symbols(), output.dtype}), like.name,
                          like.line);
  arg->outputs[0] = std::move(output);
  return arg;
}

// A copy of `body`, in which `make_input(graph, i, arg)` stands for its arg i. The args it makes are the inputs.
template <class F>
Subgraph copied(const Subgraph& body, Actions actions, const F& make_input) {
  Graph graph;
  Graph::Impl &to = graph.impl(), &from = body.graph().impl();
  to.seed = from.seed;
  to.next_symbol = from.next_symbol;
  TensorList stand_ins, args;
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    const Tensor made = make_input(to, i, *body.inputs()[i].node())->output(0);
    stand_ins.push_back(made);
    if (made.node()->def == &op_arg) args.push_back(made);
  }
  BodyCopy copy(body, to, "", actions);
  const TensorList outputs = copy.make(stand_ins);
  copy.record_stand_ins();
  to.finalized = true;
  return Subgraph(graph, args, outputs);
}

}  // namespace

TensorList inline_subgraph(const Subgraph& body, const TensorList& inputs) {
  const auto& context = internal::get_build_context();
  Graph::Impl& to = *context.graph;
  to.check_editable("inlining a subgraph");
  std::vector<Tensor> own;
  for (const Tensor& t : inputs) own.push_back(t.node()->graph == &to ? t : to.capture(t));
  BodyCopy copy(body, to, context.name_scope, Actions::keep);
  const TensorList outputs = copy.make(own);
  copy.record_stand_ins();
  return outputs;
}

Subgraph without_actions(const Subgraph& body) {
  return copied(body, Actions::leave_out,
                [](Graph::Impl& to, size_t, const OpNode& arg) { return add_arg(to, arg, arg.outputs[0]); });
}

bool acts(const OpNode& node) {
  if (!has_bodies(node)) return node.def->effect == Effect::host;
  bool found = false;
  internal::for_each_field<Subgraph>(
      node.attrs, [&](const char*, const Subgraph& body) { found = found || (!body.is_null() && find_action(body)); });
  return found;
}

const OpNode* find_action(const Subgraph& body) {
  for (const OpNode* node : reachable_from(body.graph().impl(), nodes_of(body.outputs())))
    if (acts(*node)) return node;
  return nullptr;
}

Subgraph with_inputs(const Subgraph& body, std::span<const TensorSpec> in,
                     std::span<const std::vector<int64_t>* const> values) {
  MARTELLO_CHECK(in.size() == body.inputs().size(), "[subgraph] a body of ", body.inputs().size(), " inputs was given ",
                 in.size(), ".");
  return copied(body, Actions::keep, [&](Graph::Impl& to, size_t i, const OpNode& arg) {
    const auto* value = i < values.size() ? values[i] : nullptr;
    return add_arg(to, arg, {in[i].shape, in[i].dtype, value ? std::optional(*value) : std::nullopt});
  });
}

Subgraph with_constants(const Subgraph& body, const std::vector<std::optional<HostTensor>>& values) {
  return copied(body, Actions::keep, [&](Graph::Impl& to, size_t i, const OpNode& arg) {
    return values[i] ? to.add(op_constant, {}, Attrs(ConstantAttrs{*values[i]}), arg.name, arg.line)
                     : add_arg(to, arg, arg.outputs[0]);
  });
}

}  // namespace martello
