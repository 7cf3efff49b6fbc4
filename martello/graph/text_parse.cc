#include <martello/graph/internal/graph_reader.h>
#include <martello/graph/internal/graph_text.h>
#include <martello/graph/verify.h>

#include <algorithm>

namespace martello {
namespace internal {

GraphReader::GraphReader(TextReader& text, int depth, uint64_t outer_seed) : text_(text), depth_(depth) {
  graph_.set_seed(outer_seed);
}

Graph GraphReader::read(bool is_body) {
  while (is_body ? !text_.take("}") : !text_.at_end()) read_statement();
  build();
  if (is_body) graph_.finalize();
  return graph_;
}

void GraphReader::read_statement() {
  const size_t start = text_.position();
  if (text_.take_word("seed")) {
    if (!nodes_.empty()) text_.fail(start, "the seed stands before the first node.");
    graph_.set_seed(text_.unsigned_integer());
  } else if (text_.take_word("initializer")) {
    graph_.impl().is_initializer = true;
  } else if (text_.take_word("collection")) {
    read_collection();
  } else {
    read_node();
  }
}

Reference GraphReader::reference() {
  Reference result;
  result.position = text_.position();
  if (text_.take_word("null")) return result;
  result.node = text_.name();
  if (text_.take(":")) result.output = static_cast<int>(text_.integer(0, std::numeric_limits<int>::max()));
  return result;
}

std::vector<Reference> GraphReader::references(std::string_view what) {
  std::vector<Reference> list;
  text_.list("(", ")", what, [&] { list.push_back(reference()); });
  return list;
}

void GraphReader::read_collection() {
  CollectionStatement c;
  c.position = text_.position();
  c.name = text_.word("a collection's name");
  text_.expect("=", "after a collection's name");
  const size_t kind_position = text_.position();
  c.kind = text_.word("variables, operations, tensors or texts");
  if (c.kind != "variables" && c.kind != "operations" && c.kind != "tensors" && c.kind != "texts")
    text_.fail(kind_position,
               str("a collection holds variables, operations, tensors or texts, found ", quoted(c.kind), "."));
  text_.list("(", ")", "around the items of a collection", [&] {
    if (c.kind == "texts") return c.texts.push_back(text_.quoted_text("a text"));
    c.items.push_back(reference());
    c.values.push_back(c.kind == "variables" && text_.take_word("as") ? reference() : c.items.back());
  });
  collections_.push_back(std::move(c));
}

void GraphReader::read_node() {
  NodeStatement node;
  node.position = text_.position();
  if (!text_.take("%")) text_.fail_expected("a node (%name = op(...)), seed, initializer, collection or the end");
  text_.rewind(node.position);
  node.name = text_.name();
  if (node.name.empty()) text_.fail(node.position, "a node's name is not empty.");
  if (!by_name_.emplace(node.name, nodes_.size()).second)
    text_.fail(node.position, str("node ", reference_text(node.name), " is defined twice."));
  text_.expect("=", str("after ", reference_text(node.name)));
  read_op(node);
  read_suffixes(node);
  nodes_.push_back(std::move(node));
}

void GraphReader::read_op(NodeStatement& node) {
  const size_t start = text_.position();
  const std::string op = text_.word("an op's name");
  node.def = find_op(op);
  if (!node.def) {
    std::vector<std::string> known;
    for (const OpDef* def : all_ops()) known.push_back(def->name);
    text_.fail(start, str("there is no op ", quoted(op), ".", suggestion(op, known),
                          " A user's op must be known by register_op()."));
  }
  node.inputs = references(str("around the inputs of ", op));
  node.attrs = read_attrs(text_, *node.def, depth_, graph_.seed());
}

void GraphReader::read_suffixes(NodeStatement& node) {
  if (text_.take(":")) {
    node.has_outputs = true;
    do {
      const DType dtype = text_.dtype();
      node.outputs.push_back({text_.shape(), dtype});
    } while (text_.take(","));
  }
  if (text_.take_word("after")) node.controls = references("around the nodes to run after");
  const auto bracketed = [&](const char* what) {
    text_.expect("(", str("before ", what));
    std::string value = text_.quoted_text(what);
    if (std::string_view(what) == "a file") {
      text_.expect(":", "before a line's number");
      node.line = static_cast<unsigned>(text_.integer(1, std::numeric_limits<int>::max()));
    }
    text_.expect(")", str("after ", what));
    return value;
  };
  const size_t start = text_.position();
  if (text_.take_word("on")) node.device = bracketed("a device");
  if (!node.device.empty()) with_place(text_, start, [&] { node.device = Device::parse(node.device).str(); });
  read_part(node);
  if (text_.take_word("gradient")) node.gradient_override = bracketed("a gradient's name");
  if (text_.take_word("at")) node.file = bracketed("a file");
}

void GraphReader::read_part(NodeStatement& node) {
  if (text_.take_word("recompute")) {
    text_.expect("(", "before a scope's number");
    node.recompute_scope = text_.integer(1, std::numeric_limits<int>::max());
    text_.expect(")", "after a scope's number");
  }
  node.is_backward = text_.take_word("backward");
}

}  // namespace internal

Graph parse_graph(std::string_view text) {
  internal::TextReader reader(text);
  if (reader.take_word("martello")) {
    if (!reader.take_word("graph")) reader.fail_expected("'graph' after 'martello'");
    const size_t start = reader.position();
    const int64_t version = reader.integer();
    if (version != 1) reader.fail(start, str("the text has version ", version, "; this library reads version 1."));
  }
  const Graph graph = internal::GraphReader(reader, 0, internal::kDefaultSeed).read(false);
  verify(graph);
  return graph;
}

}  // namespace martello
