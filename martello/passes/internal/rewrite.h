#pragma once
#include <martello/passes/plan_graph.h>

#include <span>
#include <string_view>
#include <vector>

// What passes that replace nodes share.
namespace martello::internal {

// Which tensor stands for another from now on. The other must not be forwarded later.
class Forwarding {
 public:
  explicit Forwarding(const PlanGraph& plan) : to_(static_cast<size_t>(plan.impl().next_id)) {}
  void set(Tensor from, Tensor to);
  Tensor find(Tensor t) const;  // t itself when nothing stands for it
  void apply(PlanGraph& plan) const;

 private:
  std::vector<std::vector<Tensor>> to_;  // by node id, output index
};

// One walk over a plan, inputs before users. A rule changes a node in place (name, line, controls and users stay) or
// sends its users to another tensor; it looks at inputs, never at users, so one walk reaches the fixed point.
class Rewrite {
 public:
  struct Rule {
    const char* name;
    bool (*apply)(Rewrite&, OpNode&);  // whether it changed something
  };

  explicit Rewrite(PlanGraph& plan);
  // Tries the rules on each node until none applies; drops what is dead. Says whether anything changed.
  bool run(std::span<const Rule> rules);

  // For rules. Both return true when they did it: a node with control edges keeps its users.
  bool become(OpNode& node, const OpDef& def, std::vector<Tensor> inputs, Attrs attrs);
  bool forward(OpNode& node, Tensor to);
  void forward_output(Tensor from, Tensor to);
  // A new node with the line and device of `origin` and a name below its name.
  Tensor add(const OpNode& origin, std::string_view suffix, const OpDef& def, std::vector<Tensor> inputs, Attrs attrs);

 private:
  bool update_inputs(OpNode& node);
  void infer(OpNode& node);

  PlanGraph& plan_;
  Forwarding forwarding_;
  std::vector<bool> is_better_known_, is_forwarded_;  // by node id
};

// Nothing but its outputs depends on whether it runs, and they only on its inputs.
bool is_pure(const OpNode& node);
// The value of a `constant` node, or null.
const HostTensor* find_constant(Tensor t);
bool has_subgraph(const OpNode& node);

// Drops dead nodes. What writes or acts outside the graph was asked for when the plan was made: it becomes a target
// when a pass removes the path to it.
void drop_dead_nodes(PlanGraph& plan);

}  // namespace martello::internal
