#pragma once
#include <martello/passes/internal/rewrite.h>

#include <optional>

namespace martello::internal {

// Users of outputs, and nodes that a pass must leave alone because something else than a reader of their outputs needs
// them: control edges, targets.
class FuseContext {
 public:
  explicit FuseContext(const PlanGraph& plan);
  const Users& users() const { return users_; }
  const std::vector<OpNode*>& order() const { return order_; }                                // inputs first
  int position(const OpNode& node) const { return position_[static_cast<size_t>(node.id)]; }  // in order()
  bool is_pinned(const OpNode& node) const { return is_pinned_[static_cast<size_t>(node.id)]; }
  // Its value depends on a read or a host function, which control edges put at some place of the run.
  bool is_staged(const OpNode& node) const { return is_staged_[static_cast<size_t>(node.id)]; }
  std::span<OpNode* const> after(const OpNode& node) const { return after_[static_cast<size_t>(node.id)]; }
  // The only reader of output 0, when nothing else looks at it. Else null.
  OpNode* find_only_user(OpNode& node) const;
  // The only reader of output 0, whatever reads the others, when it does `def` on the same device. Else null.
  OpNode* find_follower(OpNode& node, const OpDef& def) const;

 private:
  Users users_;
  std::vector<OpNode*> order_;
  std::vector<int> position_;
  std::vector<bool> is_pinned_, is_staged_;
  std::vector<std::vector<OpNode*>> after_;  // nodes with a control edge from it
};

// Element-wise nodes of one shape that become one node, with a reduction of their result if wanted.
struct FuseGroup {
  std::vector<OpNode*> nodes = {};
  OpNode* reduce = nullptr;
  std::vector<Tensor> inputs = {};  // from outside, each once; scalar constants go into the body
  Shape shape = {};
  std::optional<DType> dtype = {};  // computed in; none yet: bool only
  bool has_dynamic_rows = false;
  bool is_staged = false;
  std::string device = {};
  int outputs = 0;
  int level = 0;  // see Note [Levels]
};

// Note [Levels]: a node's level is greater than that of every node that depends on it; a group has one level. Then a
// group depends on itself through others only if one of its outside users has its level or a greater one. So a check of
// levels, never of paths, keeps the graph free of cycles, and groups of one level can be merged.
std::vector<FuseGroup> find_groups(const FuseContext& context);

// What a batch norm does to its result.
void set_relu(OpNode& norm);

// The last node becomes the group; users of other outputs are forwarded.
void emit_group(PlanGraph& plan, const FuseContext& context, const FuseGroup& group, Forwarding& forwarding);

// matmul or conv2d + add (+ relu)  =>  one node
bool fuse_bias(PlanGraph& plan);
// batch norm + relu, and their gradients  =>  one node
bool fuse_relu(PlanGraph& plan);
// batch norm, product or convolution + add (+ relu)  =>  one node
bool fuse_sums(PlanGraph& plan);
// a product that is a gradient + its update  =>  one node
bool fuse_updates(PlanGraph& plan);
// conv2d (+ add + relu) + max_pool whose index nobody reads  =>  one node, where our loops gain by it
bool fuse_pool(PlanGraph& plan);
// an op with OpDef::narrowed + cast to bf16  =>  one node
bool fuse_rounding(PlanGraph& plan);

}  // namespace martello::internal
