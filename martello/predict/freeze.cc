#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/inline.h>
#include <martello/ops/variable.h>
#include <martello/passes/freeze.h>
#include <martello/predict/internal/frozen_graph.h>

#include <algorithm>

namespace martello::internal {
namespace {

// Below it a constant stays in the text of the graph.
constexpr int64_t kLeastStored = 16;

void check_is_pure(const OpNode& node) {
  const Effect effect = node.def->effect;
  MARTELLO_CHECK(effect != Effect::write, "[freeze] ", node.where(),
                 "writes a variable, and a frozen model has none. Leave it out of what the outputs need.\n  ",
                 node.context());
  MARTELLO_CHECK(!acts(node), "[freeze] ", node.where(),
                 "acts outside the graph, which a file cannot. Leave it out of what the outputs need.\n  ",
                 node.context());
}

// An input that no output needs stays an input, so that callers need not know.
void add_unused_inputs(PlanGraph& plan, const TensorList& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!plan.feeds[i].is_null()) continue;
    const PlaceholderAttrs attrs{inputs[i].shape().without_symbols(), inputs[i].dtype()};
    Graph::Impl& graph = plan.impl();
    plan.feeds[i] =
        graph.add(op_placeholder, {}, Attrs(attrs), graph.unique_name("unused"), inputs[i].node()->line)->output(0);
  }
}

bool is_stored(const OpNode& node) {
  if (node.def != &op_constant) return false;
  const HostTensor& value = node.attrs.get<ConstantAttrs>().value;
  // Integers may be sizes that shapes depend on.
  return is_floating(value.dtype()) && value.num_elements() >= kLeastStored;
}

std::vector<NamedTensor> store_values(PlanGraph& plan, Session& session) {
  std::vector<NamedTensor> values;
  for (const auto& node : plan.impl().nodes) {
    if (is_stored(*node)) {
      values.push_back({node->name, node->attrs.get<ConstantAttrs>().value});
      node->def = &op_variable;
    } else if (node->def == &op_variable) {
      values.push_back({node->name, session.get(node->name)});
    } else {
      continue;
    }
    const NodeOutput& out = node->outputs[0];
    const bool is_counter = node->attrs.is<VariableAttrs>() && node->attrs.get<VariableAttrs>().is_counter;
    VariableAttrs attrs;
    attrs.shape = out.shape;
    attrs.dtype = out.dtype;
    attrs.trainable = false;
    attrs.is_counter = is_counter;
    node->attrs = Attrs(std::move(attrs));
    plan.impl().infer(*node);
  }
  return values;
}

// Text has the order of creation, in which inputs come first; passes add nodes behind their users.
void put_in_order(Graph::Impl& graph) {
  int64_t next = 0;
  for (OpNode* node : topological_order(graph)) node->id = next++;
  std::sort(graph.nodes.begin(), graph.nodes.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
}

void list_ends(PlanGraph& plan, const TensorList& inputs, const TensorList& outputs) {
  Collections& lists = plan.graph.collections();
  lists.set(kFrozenInputs, plan.feeds);
  lists.set(kFrozenOutputs, plan.fetches);
  for (const Tensor& t : inputs) lists.add(kFrozenInputNames, t.name());
  for (const Tensor& t : outputs) lists.add(kFrozenOutputNames, t.name());
}

}  // namespace

FrozenGraph freeze(Session& session, const TensorList& inputs, const TensorList& outputs, ExportOptions options) {
  std::vector<Shape> shapes;
  for (const Tensor& t : inputs) shapes.push_back(t.shape());
  PlanGraph plan = extract(session.graph(), outputs.vector(), {}, inputs.vector(), shapes);
  for (const auto& node : plan.impl().nodes) {
    check_is_pure(*node);
    node->device.clear();
  }
  bind_variables(plan, [&](const std::string& name) { return session.get(name); });
  fold_constants(plan);
  if (options.fold_batch_norm && fold_batch_norm(plan)) fold_constants(plan);
  add_unused_inputs(plan, inputs);
  std::vector<NamedTensor> values = store_values(plan, session);
  list_ends(plan, inputs, outputs);
  put_in_order(plan.impl());
  return {plan.graph, std::move(values)};
}

}  // namespace martello::internal
