// A sum that the op of one term makes as it writes its result:
//   %y = batch_norm_training(%x, ...)  %s = add(%y, %r)                  =>  batch_norm_training(%x, ..., %r)
//   %y = batch_norm_training(%x, ...)  %s = add(%y, %r)  %z = relu(%s)   =>  batch_norm_training(%x, ..., %r) {relu}
//   %y = linear(%x, %w, %b)            %s = add(%y, %r)                  =>  linear(%x, %w, %b, %r)
//   %y = conv2d(%x, %w)                %s = add(%y, %r)                  =>  conv2d(%x, %w, %r)
// Only where our loops make the result: the library's kernels take longer by their own sums than another pass over the
// result does, and its convolutions have other bits with them.
#include <martello/graph/core_ops.h>
#include <martello/ops/activation.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/binary.h>
#include <martello/ops/fused.h>
#include <martello/ops/internal/conv_library.h>
#include <martello/ops/internal/conv_product.h>
#include <martello/ops/internal/conv_winograd.h>
#include <martello/ops/internal/matmul_plan.h>
#include <martello/ops/matmul.h>
#include <martello/passes/internal/fuse.h>
#include <martello/passes/internal/node_plan.h>

#include <algorithm>

namespace martello::internal {
namespace {

bool norm_takes(const OpNode& norm, size_t inputs) {
  return norm.inputs.size() == inputs && !norm.attrs.get<BatchNormAttrs>().relu;
}

bool matmul_takes(const OpNode& node, int threads) {
  const auto& a = node.attrs.get<MatmulAttrs>();
  return node.inputs.size() == 2 && !a.transpose_a && NodePlan::is_known(node) &&
         is_own_product(NodePlan(node, threads).kernel_plan(), {.transpose_b = a.transpose_b});
}

bool linear_takes(const OpNode& node, int threads) {
  const auto& a = node.attrs.get<LinearAttrs>();
  return node.inputs.size() == 3 && !a.transpose_x && a.activation == LinearActivation::none &&
         NodePlan::is_known(node) &&
         is_own_product(NodePlan(node, threads).kernel_plan(), {.transpose_b = a.transpose_w, .has_bias = true});
}

bool conv_takes(const OpNode& node, int threads) {
  const auto& a = node.attrs.get<ConvOpAttrs>();
  const bool is_plain = node.outputs[0].dtype == f32 && !a.packing.is_packed() && !a.widen &&
                        a.activation == LinearActivation::none && NodePlan::is_known(node);
  if (!is_plain) return false;
  const NodePlan known(node, threads);
  const bool has_addend = conv2d_task(known.in(), a.activation).has_addend;
  if (has_addend) return false;
  const std::string name = chosen_convolution(known.kernel_plan(), ConvDirection::forward);
  return name == kWinogradName || name == kProductName;
}

bool takes_addend(const OpNode& node, int threads) {
  if (node.def == &op_batch_norm_training) return norm_takes(node, 3);
  if (node.def == &op_batch_norm_inference) return norm_takes(node, 5);
  if (node.def == &op_matmul) return matmul_takes(node, threads);
  if (node.def == &op_linear) return linear_takes(node, threads);
  return node.def == &op_conv2d && conv_takes(node, threads);
}

// False where the op has no activation.
bool take_relu(OpNode& node) {
  if (node.def == &op_matmul) return false;
  if (node.def == &op_linear) {
    LinearAttrs attrs = node.attrs.get<LinearAttrs>();
    attrs.activation = LinearActivation::relu;
    node.attrs = Attrs(attrs);
  } else if (node.def == &op_conv2d) {
    ConvOpAttrs attrs = node.attrs.get<ConvOpAttrs>();
    attrs.activation = LinearActivation::relu;
    node.attrs = Attrs(attrs);
  } else {
    set_relu(node);
  }
  return true;
}

class SumPass {
 public:
  explicit SumPass(PlanGraph& plan) : plan_(plan), context_(plan), forwarding_(plan) {}

  bool run() {
    bool changed = false;
    for (OpNode* node : context_.order()) changed |= node->def == &op_add && visit(*node);
    if (!changed) return false;
    forwarding_.apply(plan_);
    drop_dead_nodes(plan_);
    return true;
  }

 private:
  // The term that is computed later takes the other. The earlier one may, too, if nothing but the sum follows from it.
  bool visit(OpNode& add) {
    const Tensor &a = add.inputs[0], &b = add.inputs[1];
    if (a.node() == b.node()) return false;
    const bool is_a_later = context_.position(*a.node()) > context_.position(*b.node());
    const Tensor &later = is_a_later ? a : b, &earlier = is_a_later ? b : a;
    return take(add, later, earlier) || (earlier.node()->outputs.size() == 1 && take(add, earlier, later));
  }

  bool take(OpNode& add, Tensor sum, Tensor addend) {
    OpNode& node = *sum.node();
    const bool is_alike = sum.index() == 0 && addend.shape() == sum.shape() && sum.shape().is_known() &&
                          addend.dtype() == sum.dtype() && is_floating(sum.dtype());
    if (!is_alike || has_dynamic_rows(addend) || depends_on_rows(node) || is_chain(addend)) return false;
    if (comes_later(node, addend) || context_.find_follower(node, op_add) != &add) return false;
    if (!takes_addend(node, plan_.threads)) return false;
    node.inputs.push_back(addend);
    OpNode* relu = context_.find_follower(add, op_relu);
    if (relu && !take_relu(node)) relu = nullptr;
    plan_.impl().infer(node);
    forwarding_.set((relu ? *relu : add).output(0), node.output(0));
    return true;
  }

  static bool depends_on_rows(const OpNode& node) {
    return std::any_of(node.inputs.begin(), node.inputs.end(), has_dynamic_rows);
  }

  // A read that control edges put into a later stage, with which the node and all that follows from its other outputs
  // would go; or a value of another device, for which the node does not wait now.
  bool comes_later(const OpNode& node, Tensor addend) const {
    const OpNode& other = *addend.node();
    return (context_.is_staged(other) && !context_.is_staged(node)) || other.device != node.device;
  }

  // An element-wise value that nothing else needs is computed together with the sum.
  bool is_chain(Tensor addend) const {
    return is_fusable(*addend.node()) && context_.users().of(addend).size() == 1 &&
           !context_.users().is_fetched(addend);
  }

  PlanGraph& plan_;
  FuseContext context_;
  Forwarding forwarding_;
};

}  // namespace

bool fuse_sums(PlanGraph& plan) { return SumPass(plan).run(); }

}  // namespace martello::internal
