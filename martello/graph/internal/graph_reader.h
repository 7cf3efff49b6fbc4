#pragma once
#include <martello/graph/internal/text_reader.h>
#include <martello/graph/node.h>
#include <martello/graph/subgraph.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace martello::internal {

struct Reference {
  std::string node;  // "" for null
  int output = 0;
  size_t position = 0;
};

struct NodeStatement {
  std::string name;
  size_t position = 0;
  const OpDef* def = nullptr;
  Attrs attrs;
  std::vector<Reference> inputs, controls;
  std::vector<TensorSpec> outputs;
  bool has_outputs = false;
  std::string device, gradient_override, file;
  unsigned line = 0;
  int64_t recompute_scope = 0;
  bool is_backward = false;
  bool is_open = false;  // being built, or built
  OpNode* made = nullptr;
};

struct CollectionStatement {
  std::string name, kind;
  size_t position = 0;
  std::vector<Reference> items, values;  // a variable and what it reads as
  std::vector<std::string> texts;
};

// Reads the statements of one graph, then builds it: inputs may stand below their users, as they do after a pass.
class GraphReader {
 public:
  GraphReader(TextReader& text, int depth, uint64_t outer_seed);
  Graph read(bool is_body);
  // Of the finished graph.
  Tensor tensor(const Reference& reference);
  Reference reference();

 private:
  void read_statement();
  void read_collection();
  void read_node();
  void read_op(NodeStatement& node);
  void read_suffixes(NodeStatement& node);
  void read_part(NodeStatement& node);
  std::vector<Reference> references(std::string_view what);

  void build();
  void build_with_inputs(size_t root);
  void build_node(NodeStatement& node);
  void set_outputs(const NodeStatement& node);
  void set_controls(const NodeStatement& node);
  void set_order();
  void add_collection(const CollectionStatement& collection);
  size_t statement_of(const Reference& reference) const;
  SourceLine source_line(const NodeStatement& node);

  TextReader& text_;
  int depth_;
  Graph graph_;
  std::vector<NodeStatement> nodes_;
  std::unordered_map<std::string, size_t> by_name_;
  std::vector<CollectionStatement> collections_;
};

// The attributes of an op, from "{name=value, ...}" or nothing.
Attrs read_attrs(TextReader& text, const OpDef& def, int depth, uint64_t outer_seed);

// Runs f(); an error gains the place of the text that led to it.
template <class F>
auto with_place(const TextReader& text, size_t position, F&& f) {
  try {
    return f();
  } catch (Error& error) {
    error.add_context(str("in ", text.place(position), " of the graph text"));
    throw;
  }
}

}  // namespace martello::internal
