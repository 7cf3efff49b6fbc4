#pragma once
#include <martello/graph/collections.h>
#include <martello/graph/graph.h>
#include <martello/graph/op_def.h>
#include <martello/graph/scopes.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

// The inside of a graph, for passes, autodiff and the runtime. Model code needs none of it.
namespace martello {

struct NodeOutput {
  Shape shape;
  DType dtype = f32;
  // Elements of a small integer tensor as far as they are known.
  std::optional<std::vector<int64_t>> value;
  bool has_dynamic_rows = false;  // dimension 0 is a bound; the true size is known at run time

  TensorSpec spec() const { return {shape, dtype, {}, {}}; }
};

struct GradientOverrideEntry {
  std::string name;
  GradientOverride::Fn fn;
};

struct OpNode {
  const OpDef* def = nullptr;
  std::string name;
  int64_t id = 0;  // creation order within its graph
  std::vector<Tensor> inputs;
  std::vector<OpNode*> controls;  // run before this node
  Attrs attrs;
  std::vector<NodeOutput> outputs;
  SourceLine line;
  std::string device;           // "" lets the planner choose
  int64_t recompute_scope = 0;  // which RecomputeScope it was made in; 0: none
  bool is_backward = false;     // made by gradients()
  std::shared_ptr<const GradientOverrideEntry> gradient_override;
  Graph::Impl* graph = nullptr;

  Tensor output(int i) { return Tensor(Operation(this), i); }
  OpInfo info() const { return {name, def->name}; }
  std::string where() const { return info().where(); }
  // "  at model.cc:12"-style context for errors; "" when unknown
  std::string context() const;
};

inline const NodeOutput& output_of(const Tensor& t) { return t.node()->outputs[static_cast<size_t>(t.index())]; }
inline bool has_dynamic_rows(const Tensor& t) { return output_of(t).has_dynamic_rows; }
// The tensor whose bytes these are: `t` itself, or what it is an alias of.
inline Tensor alias_source(Tensor t) {
  while (t.node()->def->is_alias && t.index() == 0) t = t.node()->inputs[0];
  return t;
}

// How the rows of an input pass through a node.
Rows rows_of(const OpNode& node, size_t input);

// A body whose nodes were copied into a graph. Closures over its tensors (custom gradients) mean the copies there.
struct InlinedBody {
  Graph source;
  std::unordered_map<const OpNode*, std::vector<Tensor>> stand_ins;  // by node: one per output
};

struct Graph::Impl : std::enable_shared_from_this<Graph::Impl> {
  std::vector<std::unique_ptr<OpNode>> nodes;  // creation order; ids ascend
  std::unordered_map<std::string, OpNode*> by_name;
  std::unordered_map<std::string, int> next_suffix;  // for names already taken
  std::unordered_map<std::string, int> scopes;       // name scopes opened so far, and their next suffix
  Collections collections;
  std::vector<std::shared_ptr<const std::string>> files;  // file names of parsed source lines
  int64_t next_id = 0;
  int64_t next_symbol = -2;
  int64_t next_recompute_scope = 1;
  int64_t rewirings = 0;  // edits of existing nodes: plans made before are stale
  uint64_t seed = 0x4d617274656c6c6fULL;
  bool finalized = false;

  bool is_initializer = false;  // builds a variable's first value: random ops in it do not count runs
  // A body built inside another graph: where captures go.
  Graph::Impl* parent = nullptr;
  std::vector<Tensor> captured;        // tensors of the parent
  std::vector<Tensor> capture_inputs;  // the `arg` nodes that stand for them
  std::vector<InlinedBody> inlined;

  // Also a body within an initializer.
  // The outermost graph: variables live there, also when a body asks for them.
  Impl& root() { return parent ? parent->root() : *this; }
  bool is_inside_initializer() const { return is_initializer || (parent && parent->is_inside_initializer()); }
  // `name` under no scope, made unique by a suffix.
  std::string unique_name(std::string_view name);
  std::string unique_scope(const std::string& name);
  // Appends a node whose inputs are all of this graph; infers outputs. The error shows the node's line.
  OpNode* add(const OpDef& def, std::vector<Tensor> inputs, Attrs attrs, std::string unique_name, SourceLine line);
  // Runs the shape function again, after inputs or attributes changed.
  void infer(OpNode& node);
  // The node of this graph that stands for a tensor of a graph above it, or of a body inlined here or above.
  // `by` is who asks, for the error.
  Tensor capture(Tensor outer, std::string_view by = "graph");
  Tensor find_stand_in(Tensor of) const;  // null when there is none
  void check_editable(std::string_view what) const;
  // Drops nodes that are not in `keep` (indexed by id).
  void erase_unmarked(const std::vector<bool>& keep);
};

// Nodes in an order in which inputs and controls come first. Throws InvalidArgument naming the nodes of a cycle.
std::vector<OpNode*> topological_order(const Graph::Impl& graph);
// Those that `roots` need.
std::vector<OpNode*> reachable_from(const Graph::Impl& graph, const std::vector<OpNode*>& roots);

}  // namespace martello
