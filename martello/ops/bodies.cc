#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/identity.h>
#include <martello/ops/internal/bodies.h>

#include <algorithm>

namespace martello::internal {

std::string text_of(const std::vector<NodeOutput>& outputs) {
  std::vector<std::string> texts;
  for (const NodeOutput& o : outputs) texts.push_back(o.spec().str());
  return texts.size() == 1 ? texts[0] : str("(", join(texts), ")");
}

bool fit(const NodeOutput& a, const NodeOutput& b) {
  if (a.dtype != b.dtype || a.shape.rank() != b.shape.rank()) return false;
  for (int i = 0; i < a.shape.rank(); ++i)
    if (!may_be_equal(a.shape[i], b.shape[i])) return false;
  return true;
}

Shape known_outside(Shape shape, std::span<const TensorSpec> in) {
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t symbol = dim_of(shape, i);
    const bool is_known = symbol >= 0 || std::any_of(in.begin(), in.end(), [&](const TensorSpec& spec) {
                            const auto& dims = spec.shape.symbolic();
                            return std::find(dims.begin(), dims.end(), symbol) != dims.end();
                          });
    if (!is_known) shape = shape.with(i, kUnknown);
  }
  return shape;
}

std::vector<NodeOutput> outputs_with(const ShapeContext& c, const Subgraph& body, std::span<const TensorSpec> in,
                                     std::span<const std::vector<int64_t>* const> values, const char* what) {
  const Subgraph known = with_inputs(body, in, values);
  std::vector<NodeOutput> outputs;
  for (const Tensor& t : known.outputs()) {
    outputs.push_back(output_of(t));
    MARTELLO_CHECK(!outputs.back().has_dynamic_rows, c.where(), "'", t.name(), "' ", outputs.back().spec(), " of ",
                   what, " has a number of rows that depends on data; it needs sizes known before the run.");
  }
  return outputs;
}

Cost cost_of(const Subgraph& body, std::span<const TensorSpec> in) {
  Cost total;
  const Subgraph known = with_inputs(body, in);
  for (const auto& node : known.graph().impl().nodes) {
    std::vector<TensorSpec> node_in, node_out;
    for (const Tensor& t : node->inputs) node_in.push_back({.shape = t.shape(), .dtype = t.dtype()});
    for (const NodeOutput& o : node->outputs) node_out.push_back(o.spec());
    const auto is_known = [](const TensorSpec& s) { return s.shape.is_known(); };
    const bool has_cost = node->def->cost && std::all_of(node_in.begin(), node_in.end(), is_known) &&
                          std::all_of(node_out.begin(), node_out.end(), is_known);
    if (!has_cost) continue;
    const Cost cost = node->def->cost(node_in, node_out, node->attrs);
    total = {total.flops + cost.flops, total.bytes + cost.bytes};
  }
  return total;
}

Tensor inside(const Tensor& t) {
  Graph::Impl& graph = Graph::current().impl();
  return t.node()->graph == &graph ? t : graph.capture(t);
}

TensorList finish_body(const TensorList& ys, const std::string& where, const char* what) {
  MARTELLO_CHECK(!ys.empty(), where, what, " gives no tensors. Return at least one.");
  for (const Tensor& y : ys) MARTELLO_CHECK(!y.is_null(), where, what, " gives a null Tensor: it was never assigned.");
  const Graph::Impl& graph = Graph::current().impl();
  std::vector<Operation> actions;
  for (const auto& node : graph.nodes) {
    MARTELLO_CHECK(node->def->effect != Effect::write, where, "'", node->name, "' (", node->def->name, ") writes '",
                   node->inputs[0].name(), "' inside ", what, ", which is not allowed. Return the value and assign it ",
                   "outside.\n  ", node->context());
    if (acts(*node)) actions.emplace_back(node.get());
  }
  if (actions.empty()) return ys;
  ControlDependencies after(actions);
  TensorList tied;
  for (const Tensor& y : ys) tied.push_back(identity(y));
  return tied;
}

void check_repeatable(const GradContext& c, const Subgraph& body, const char* what) {
  const OpNode* action = find_action(body);
  MARTELLO_CHECK(!action, "[", c.op.type, " '", c.op.name, "'] its gradient needs '", action->name, "' (",
                 action->def->name, ") of ", what, " a second time, but it acts outside the graph. Move it out of ",
                 what, ".");
}

}  // namespace martello::internal
