#include <martello/callbacks/monitors/internal/graph_nodes.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/internal/graph_text.h>
#include <martello/graph/node.h>

namespace martello::internal {
namespace {

// Long values of constants would be most of the file.
std::string short_attrs(const OpNode& node) {
  constexpr size_t kMostText = 200, kMostElements = 16;
  const bool is_long = node.def == &op_constant && node.outputs[0].shape.num_elements() > int64_t{kMostElements};
  return is_long ? "" : attrs_text(node.attrs, {}, 0).substr(0, kMostText);
}

GraphNode graph_node(const OpNode& node) {
  GraphNode n{.name = node.name, .op = node.def->name, .device = node.device};
  for (const Tensor& t : node.inputs)
    if (!t.is_null()) n.inputs.push_back(t.name());
  for (const OpNode* control : node.controls) n.inputs.push_back("^" + control->name);
  if (const std::string text = short_attrs(node); !text.empty()) n.attrs.emplace_back("attrs", text);
  if (node.line.known()) n.attrs.emplace_back("line", node.line.str());
  for (const NodeOutput& out : node.outputs) n.outputs.push_back({out.dtype, out.shape});
  return n;
}

}  // namespace

std::vector<GraphNode> graph_nodes(const Graph& graph) {
  std::vector<GraphNode> nodes;
  for (const Operation& op : graph.operations()) nodes.push_back(graph_node(*op.node()));
  return nodes;
}

}  // namespace martello::internal
