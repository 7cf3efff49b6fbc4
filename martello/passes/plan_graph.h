#pragma once
#include <martello/graph/node.h>
#include <martello/passes/precision.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace martello {

// A private copy of the part of a graph that a run needs, on its way to a Plan. Passes edit it in place. All shapes are
// known once it is made for a run; feeds are `placeholder` (or, in a body, `arg`) nodes.
struct PlanGraph {
  Graph graph;
  std::vector<Tensor> fetches;     // values to return
  std::vector<Operation> targets;  // operations to run
  std::vector<Tensor> feeds;       // in the caller's order; null when nothing needs it
  int threads = 1;                 // the most that a kernel may use
  Precision precision = Precision::f32;
  bool has_one_device = true;  // the whole graph that this is a part of

  Graph::Impl& impl() const { return graph.impl(); }
  std::vector<OpNode*> roots() const;
  // Makes every user of `from`, fetches included, use `to`.
  void replace_uses(Tensor from, Tensor to);
};

// Who reads each output. Valid until the graph changes.
class Users {
 public:
  explicit Users(const PlanGraph& plan);
  std::span<OpNode* const> of(Tensor t) const;  // one entry per use
  bool is_fetched(Tensor t) const;

 private:
  struct Entry {
    std::vector<OpNode*> users;
    bool is_fetched = false;
  };
  const Entry* find(Tensor t) const;
  std::vector<std::vector<Entry>> entries_;  // by node id, output index
};

// An op whose value lies somewhere already, or that has none: a plan has no step for it.
bool needs_no_kernel(const OpDef& def);

// A pure node whose results have no elements has nothing to do, however large its other dimensions are.
bool gives_nothing(const OpNode& node);

// The subgraph that `fetches` and `targets` need, with the fed tensors cut off and given these shapes. Order of
// creation is kept. Throws when a needed placeholder is not fed.
PlanGraph extract(const Graph& graph, const std::vector<Tensor>& fetches, const std::vector<Operation>& targets,
                  const std::vector<Tensor>& feeds, const std::vector<Shape>& feed_shapes);

// `before => after` stands at the head of each pass. run() says whether it changed anything.
struct GraphPass {
  const char* name;
  bool (*run)(PlanGraph&);
};

// In the order in which they run: prune, fold_constants, simplify, channels_last, cse, recompute, lower_precision,
// fuse, assign_layout, place.
std::span<const GraphPass> all_passes();

struct PassRun {
  std::string_view name;
  double milliseconds = 0;
  bool changed = false;
};
// Runs them all except the named ones, and verifies what each has made.
std::vector<PassRun> run_passes(PlanGraph& plan, const std::vector<std::string>& disabled);

bool prune(PlanGraph& plan);            // nodes that no fetch or target needs => nothing
bool fold_constants(PlanGraph& plan);   // op(constants) => constant;  shape(x) => constant
bool simplify(PlanGraph& plan);         // x + 0 => x;  transpose(transpose(x)) => x ...
bool channels_last(PlanGraph& plan);    // conv2d(x) {nchw} => conv2d(transpose(x)), and all that follows stays turned
bool cse(PlanGraph& plan);              // op(x), op(x) => one of them
bool recompute(PlanGraph& plan);        // a cheap value kept for gradients => computed again for them (RecomputeScope)
bool lower_precision(PlanGraph& plan);  // matmul(a, b) => matmul(cast(a), cast(b)), when the plan asks for bf16
bool fuse(PlanGraph& plan);             // element-wise chains; bias, sum, relu, rounding, pooling with what they follow
bool assign_layout(PlanGraph& plan);    // conv2d(x, w) => conv2d(x, reorder(w)), in the layout the library wants
bool place(PlanGraph& plan);            // a device for every node;  x on A used on B => copy on B

}  // namespace martello
