#include <martello/graph/internal/graph_text.h>
#include <martello/graph/node.h>
#include <martello/graph/subgraph.h>

#include <algorithm>

namespace martello {
namespace internal {
namespace {

std::string quoted_unless(bool plain, std::string_view text) { return plain ? std::string(text) : quoted(text); }

std::string reference(const Tensor& t) { return t.is_null() ? "null" : reference_text(t.node()->name, t.index()); }
std::string reference(const Operation& op) { return op.is_null() ? "null" : reference_text(op.name()); }
std::string reference(const Variable& v) {
  const bool wrapped = static_cast<const Tensor&>(v) != v.handle();
  return wrapped ? str(reference(v.handle()), " as ", reference(static_cast<const Tensor&>(v))) : reference(v.handle());
}
std::string reference(const std::string& text) { return quoted(text); }

template <class List>
std::string references(const List& list) {
  std::vector<std::string> parts;
  for (const auto& item : list) parts.push_back(reference(item));
  return join(parts);
}

template <class T>
void append_collection(std::string& out, const Graph& graph, const std::string& key, const char* kind,
                       const std::string& margin) {
  const std::vector<T> items = graph.collections().get(CollectionKey<T>{key.c_str()});
  if (!items.empty()) out += str(margin, "collection ", word_text(key), " = ", kind, "(", references(items), ")\n");
}

void append_header(std::string& out, const Graph& graph, uint64_t outer_seed, const std::string& margin) {
  if (graph.seed() != outer_seed) out += str(margin, "seed ", graph.seed(), "\n");
  if (graph.impl().is_initializer) out += margin + "initializer\n";
  for (const std::string& key : graph.collections().keys()) {
    append_collection<Variable>(out, graph, key, "variables", margin);
    append_collection<Operation>(out, graph, key, "operations", margin);
    append_collection<Tensor>(out, graph, key, "tensors", margin);
    append_collection<std::string>(out, graph, key, "texts", margin);
  }
}

std::string outputs_text(const OpNode& node) {
  std::vector<std::string> parts;
  for (const NodeOutput& output : node.outputs) parts.push_back(str(output.dtype, shape_text(output.shape)));
  return parts.empty() ? "" : str(" : ", join(parts));
}

std::string controls_text(const OpNode& node) {
  std::vector<std::string> parts;
  for (const OpNode* control : node.controls) parts.push_back(reference_text(control->name));
  return parts.empty() ? "" : str(" after(", join(parts), ")");
}

// The folder is the machine's business, not the graph's.
std::string line_text(SourceLine line) {
  const std::string_view path = line.file;
  return str(" at(", quoted(path.substr(path.rfind('/') + 1)), ":", line.line, ")");
}

void append_node(std::string& out, const OpNode& node, TextOptions options, int indent) {
  const std::string attributes = attrs_text(node.attrs, options, indent);
  out += str(reference_text(node.name), " = ", word_text(node.def->name), "(", references(node.inputs), ")");
  if (!attributes.empty()) out += str(" ", attributes);
  out += outputs_text(node) + controls_text(node);
  if (!node.device.empty()) out += str(" on(", quoted(node.device), ")");
  if (node.recompute_scope > 0) out += str(" recompute(", node.recompute_scope, ")");
  if (node.is_backward) out += " backward";
  if (node.gradient_override) out += str(" gradient(", quoted(node.gradient_override->name), ")");
  if (options.lines && node.line.known()) out += line_text(node.line);
  out += "\n";
}

void append_graph(std::string& out, const Graph& graph, TextOptions options, int indent) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  append_header(out, graph, options.outer_seed, margin);
  options.outer_seed = graph.seed();
  for (const auto& node : graph.impl().nodes) {
    out += margin;
    append_node(out, *node, options, indent);
  }
}

}  // namespace

bool is_word_char(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_';
}
bool is_name_char(char c) { return is_word_char(c) || c == '/' || c == '.' || c == '-'; }

std::string word_text(std::string_view word) {
  return quoted_unless(!word.empty() && std::all_of(word.begin(), word.end(), is_word_char), word);
}

std::string reference_text(std::string_view node, int output) {
  const bool plain = !node.empty() && std::all_of(node.begin(), node.end(), is_name_char);
  return str("%", quoted_unless(plain, node), output == 0 ? "" : str(":", output));
}

std::string graph_text(const Graph& graph, TextOptions options) {
  std::string out = "martello graph 1\n";
  append_graph(out, graph, options, 0);
  return out;
}

std::string subgraph_text(const Subgraph& body, TextOptions options, int indent) {
  if (body.is_null()) return "none";
  std::string out = str("subgraph(", references(body.inputs()), ") -> (", references(body.outputs()), ") {\n");
  append_graph(out, body.graph(), options, indent + 2);
  return out + std::string(static_cast<size_t>(indent), ' ') + "}";
}

}  // namespace internal

std::string Graph::text() const { return internal::graph_text(*this, {}); }

}  // namespace martello
