#include <martello/graph/internal/graph_reader.h>
#include <martello/graph/internal/graph_text.h>

#include <algorithm>

// The second half of parse_graph(): from statements to nodes.
namespace martello::internal {
namespace {

// Scopes deeper than this are not reserved: text may hold one name of a million slashes.
constexpr int kReservedScopes = 32;

bool agree(const TensorSpec& declared, const NodeOutput& inferred) {
  const Shape &a = declared.shape, &b = inferred.shape;
  if (declared.dtype != inferred.dtype || a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (a[i] != b[i] && a[i] != kUnknown && b[i] != kUnknown) return false;
  }
  return true;
}

std::string specs_text(const auto& list) {
  std::vector<std::string> parts;
  for (const auto& item : list) parts.push_back(str(item.dtype, item.shape));
  return parts.empty() ? "no outputs" : join(parts);
}

// So that name scopes opened in the parsed graph are as unique as in the one that was printed.
void reserve_scopes(Graph::Impl& graph, std::string_view name) {
  size_t slash = name.find('/');
  for (int i = 0; i < kReservedScopes && slash != std::string_view::npos; ++i, slash = name.find('/', slash + 1))
    graph.scopes.emplace(name.substr(0, slash), 0);
}

[[noreturn]] TensorList refuse_lost_gradient(const GradContext& c, const std::string& name) {
  throw FailedPrecondition(str("[gradients] '", c.op.name, "' (", c.op.type, ") has the gradient override '", name,
                               "', whose function is not part of graph text. Build the gradients before printing."));
}

std::shared_ptr<const GradientOverrideEntry> lost_override(const std::string& name) {
  return std::make_shared<const GradientOverrideEntry>(
      GradientOverrideEntry{name, [name](const GradContext& c) -> TensorList { refuse_lost_gradient(c, name); }});
}

}  // namespace

size_t GraphReader::statement_of(const Reference& reference) const {
  const auto it = by_name_.find(reference.node);
  if (it != by_name_.end()) return it->second;
  if (reference.node.empty()) text_.fail(reference.position, "null stands where a node is needed.");
  std::vector<std::string> known;
  for (const NodeStatement& node : nodes_) known.push_back(node.name);
  text_.fail(reference.position,
             str("there is no node ", reference_text(reference.node), ".", suggestion(reference.node, known)));
}

Tensor GraphReader::tensor(const Reference& reference) {
  OpNode* node = nodes_[statement_of(reference)].made;
  const auto count = static_cast<int>(node->outputs.size());
  if (reference.output >= count)
    text_.fail(reference.position, str(reference_text(reference.node, reference.output), " does not exist: '",
                                       node->name, "' (", node->def->name, ") has ", count, " outputs."));
  return node->output(reference.output);
}

void GraphReader::build() {
  Graph::Impl& impl = graph_.impl();
  impl.next_symbol = text_.lowest_symbol() - 1;
  for (size_t i = 0; i < nodes_.size(); ++i) build_with_inputs(i);
  for (const NodeStatement& node : nodes_) set_controls(node);
  set_order();
  impl.next_symbol = -2;
  for (const auto& node : impl.nodes) {
    impl.next_recompute_scope = std::max(impl.next_recompute_scope, node->recompute_scope + 1);
    for (const NodeOutput& output : node->outputs) {
      for (int64_t d : output.shape.symbolic()) impl.next_symbol = std::min(impl.next_symbol, d - 1);
    }
  }
  for (const CollectionStatement& collection : collections_) add_collection(collection);
}

// Depth first, without recursion: the text decides how deep.
void GraphReader::build_with_inputs(size_t root) {
  struct Visit {
    size_t statement, next_input;
  };
  if (nodes_[root].made) return;
  std::vector<Visit> stack = {{root, 0}};
  nodes_[root].is_open = true;
  while (!stack.empty()) {
    Visit& top = stack.back();
    NodeStatement& node = nodes_[top.statement];
    if (top.next_input == node.inputs.size()) {
      build_node(node);
      stack.pop_back();
      continue;
    }
    const Reference& input = node.inputs[top.next_input++];
    const size_t needed = statement_of(input);
    if (nodes_[needed].made) continue;
    if (std::exchange(nodes_[needed].is_open, true))
      text_.fail(input.position, str("node ", reference_text(input.node), " needs its own output."));
    stack.push_back({needed, 0});
  }
}

SourceLine GraphReader::source_line(const NodeStatement& node) {
  if (node.line == 0) return {"", 0, ""};
  auto& files = graph_.impl().files;
  if (files.empty() || *files.back() != node.file) files.push_back(std::make_shared<const std::string>(node.file));
  return {files.back()->c_str(), node.line, ""};
}

void GraphReader::build_node(NodeStatement& node) {
  std::vector<Tensor> inputs;
  for (const Reference& input : node.inputs) inputs.push_back(tensor(input));
  const SourceLine line = source_line(node);
  node.made = with_place(text_, node.position,
                         [&] { return graph_.impl().add(*node.def, std::move(inputs), node.attrs, node.name, line); });
  node.made->device = node.device;
  node.made->recompute_scope = node.recompute_scope;
  node.made->is_backward = node.is_backward;
  if (!node.gradient_override.empty()) node.made->gradient_override = lost_override(node.gradient_override);
  if (node.has_outputs) set_outputs(node);
  reserve_scopes(graph_.impl(), node.name);
}

void GraphReader::set_outputs(const NodeStatement& node) {
  std::vector<NodeOutput>& outputs = node.made->outputs;
  bool agrees = outputs.size() == node.outputs.size();
  for (size_t i = 0; agrees && i < outputs.size(); ++i) agrees = agree(node.outputs[i], outputs[i]);
  if (!agrees)
    text_.fail(node.position, str(node.made->where(), "gives ", specs_text(outputs), " but the text says ",
                                  specs_text(node.outputs), "."));
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].shape = node.outputs[i].shape;
}

void GraphReader::set_controls(const NodeStatement& node) {
  for (const Reference& control : node.controls) {
    node.made->controls.push_back(nodes_[statement_of(control)].made);
    if (control.output != 0) text_.fail(control.position, "a node runs after nodes, not after one of their outputs.");
  }
}

// Creation order is meaning: updates of a variable apply in it.
void GraphReader::set_order() {
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i].made->id = static_cast<int64_t>(i);
  auto& nodes = graph_.impl().nodes;
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
}

void GraphReader::add_collection(const CollectionStatement& c) {
  Collections& collections = graph_.collections();
  const auto item = [&](const Reference& r) { return r.node.empty() ? Tensor() : tensor(r); };
  const auto operation = [&](const Reference& r) {
    return r.node.empty() ? Operation() : Operation(nodes_[statement_of(r)].made);
  };
  with_place(text_, c.position, [&] {
    const char* name = c.name.c_str();
    for (const std::string& t : c.texts) collections.add(CollectionKey<std::string>{name}, t);
    for (size_t i = 0; i < c.items.size(); ++i) {
      if (c.kind == "operations") collections.add(CollectionKey<Operation>{name}, operation(c.items[i]));
      if (c.kind == "tensors") collections.add(CollectionKey<Tensor>{name}, item(c.items[i]));
      if (c.kind == "variables") collections.add(CollectionKey<Variable>{name}, {item(c.items[i]), item(c.values[i])});
    }
  });
}

}  // namespace martello::internal
