#include <martello/base/error.h>
#include <martello/graph/internal/field_visitor.h>
#include <martello/graph/internal/graph_text.h>
#include <martello/graph/node.h>

#include <map>

namespace martello {
namespace {

// Name scopes and bodies nest as boxes; deeper ones share the box of this depth.
constexpr int kDeepestBox = 32;

struct Scope {
  std::map<std::string, Scope> children;
  std::vector<const OpNode*> nodes;
};

class DotWriter {
 public:
  std::string write(const Graph& graph) {
    out_ = "digraph martello {\n  rankdir=TB;\n  node [fontname=\"Helvetica\", fontsize=10];\n";
    write_graph(graph, 1);
    return out_ += "}\n";
  }

 private:
  void write_graph(const Graph& graph, int depth) {
    Scope root;
    for (const auto& node : graph.impl().nodes) {
      ids_.emplace(node.get(), ids_.size());
      place(root, *node);
    }
    write_scope(root, depth);
    for (const auto& node : graph.impl().nodes) write_edges(*node, depth);
    for (const auto& node : graph.impl().nodes) write_bodies(*node, depth);
  }

  static void place(Scope& root, const OpNode& node) {
    Scope* scope = &root;
    std::string_view rest = node.name;
    for (int i = 0; i < kDeepestBox; ++i) {
      const size_t slash = rest.find('/');
      if (slash == std::string_view::npos) break;
      scope = &scope->children[std::string(rest.substr(0, slash))];
      rest.remove_prefix(slash + 1);
    }
    scope->nodes.push_back(&node);
  }

  void write_scope(const Scope& scope, int depth) {
    for (const OpNode* node : scope.nodes) write_node(*node, depth);
    for (const auto& [name, child] : scope.children) {
      open_box(name, "rounded", depth);
      write_scope(child, depth + 1);
      line(depth, "}");
    }
  }

  void write_node(const OpNode& node, int depth) {
    const std::string_view name = node.name;
    std::string label = str(name.substr(name.rfind('/') + 1), "\n", node.def->name);
    for (const NodeOutput& output : node.outputs) label += str("\n", output.dtype, internal::shape_text(output.shape));
    if (!node.device.empty()) label += str("\non ", node.device);
    const char* shape = node.def->effect == Effect::variable ? "cylinder"
                        : node.def->effect == Effect::feed   ? "invhouse"
                                                             : "box";
    line(depth, str(id(node), " [shape=", shape, ", label=", quoted(label), "];"));
  }

  void write_edges(const OpNode& node, int depth) {
    for (const Tensor& input : node.inputs) {
      const std::string label = input.index() == 0 ? "" : str(" [label=\"", input.index(), "\"]");
      line(depth, str(id(*input.node()), " -> ", id(node), label, ";"));
    }
    for (const OpNode* control : node.controls) line(depth, str(id(*control), " -> ", id(node), " [style=dashed];"));
  }

  void write_bodies(const OpNode& node, int depth) {
    if (depth >= kDeepestBox) return;
    internal::for_each_field<Subgraph>(node.attrs, [&](const char* field, const Subgraph& body) {
      if (body.is_null()) return;
      open_box(str(field, " of ", node.name), "dotted", depth);
      write_graph(body.graph(), depth + 1);
      line(depth, "}");
      for (const Tensor& output : body.outputs())
        line(depth, str(id(*output.node()), " -> ", id(node), " [style=dotted, arrowhead=empty];"));
    });
  }

  void open_box(std::string_view label, const char* style, int depth) {
    line(depth, str("subgraph cluster_", boxes_++, " {"));
    line(depth + 1, str("label=", quoted(label), "; style=", style, ";"));
  }

  std::string id(const OpNode& node) const { return str("n", ids_.at(&node)); }
  void line(int depth, std::string_view text) {
    out_.append(static_cast<size_t>(depth) * 2, ' ').append(text).push_back('\n');
  }

  std::string out_;
  std::map<const OpNode*, size_t> ids_;
  int boxes_ = 0;
};

}  // namespace

std::string Graph::dot() const { return DotWriter().write(*this); }

}  // namespace martello
