// Kernels in the layout that the library wants for each convolution, variables as they are:
//   %y = conv2d(%x, %w)                =>  %p = reorder(%w)  %y = conv2d(%x, %p) {packed}
//   %w = cast(%v) {dtype=bf16}         =>  %p = reorder(%v), rounded on the way
//   %dw = conv2d_grad_kernel(%x, %dy)  =>  %p = conv2d_grad_kernel(%x, %dy) {packed}  %dw = reorder(%p)
#include <martello/ops/cast.h>
#include <martello/ops/internal/conv_library.h>
#include <martello/ops/internal/reorder_attrs.h>
#include <martello/passes/internal/node_plan.h>
#include <martello/passes/internal/rewrite.h>

#include <optional>
#include <unordered_map>

namespace martello {
namespace {

using internal::ConvDirection;
using internal::ConvOpAttrs;
using internal::NodePlan;
using internal::ReorderAttrs;

std::optional<ConvDirection> direction_of(const OpNode& node) {
  if (node.def == &op_conv2d) return ConvDirection::forward;
  if (node.def == &op_conv2d_grad_input) return ConvDirection::grad_input;
  if (node.def == &op_conv2d_grad_kernel) return ConvDirection::grad_kernel;
  return std::nullopt;
}

class LayoutPass {
 public:
  explicit LayoutPass(PlanGraph& plan) : plan_(plan), rewrite_(plan) {}

  // Whether the node was changed.
  bool visit(OpNode& node) {
    const auto direction = direction_of(node);
    if (!direction || !NodePlan::is_known(node) || node.attrs.get<ConvOpAttrs>().packing.is_packed()) return false;
    const ReorderAttrs reorder = find_reorder(node, *direction);
    if (!reorder.packing.is_packed()) return false;
    ConvOpAttrs attrs = node.attrs.get<ConvOpAttrs>();
    attrs.packing = reorder.packing;
    if (*direction == ConvDirection::grad_kernel) {
      attrs.shape = Shape();
      const Tensor packed = rewrite_.add(node, "packed", *node.def, {node.inputs[0], node.inputs[1]}, Attrs(attrs));
      return rewrite_.become(node, op_reorder, {packed}, Attrs(reorder));
    }
    std::vector<Tensor> inputs = node.inputs;
    inputs[1] = packed_kernel(node, reorder);
    if (*direction == ConvDirection::grad_input) {
      attrs.shape = node.outputs[0].shape;
      inputs.resize(2);
    }
    return rewrite_.become(node, *node.def, std::move(inputs), Attrs(attrs));
  }

 private:
  ReorderAttrs find_reorder(const OpNode& node, ConvDirection direction) const {
    const auto& attrs = node.attrs.get<ConvOpAttrs>();
    const NodePlan known(node, plan_.threads);
    const auto problem = internal::conv_problem(direction, node.where(), known.in(), known.out(), attrs);
    return {direction,   attrs.conv,  problem.x_shape(), internal::choose_packing(known.kernel_plan(), direction),
            attrs.widen, attrs.narrow};
  }

  // The copy rounds f32 to bf16 by itself.
  static Tensor unrounded(Tensor kernel) {
    const OpNode& node = *kernel.node();
    const bool is_rounded = kernel.dtype() == bf16 && node.def == &op_cast && node.inputs[0].dtype() == f32;
    return is_rounded && node.controls.empty() ? node.inputs[0] : kernel;
  }

  // Convolutions that want one kernel alike share its copy.
  Tensor packed_kernel(const OpNode& node, const ReorderAttrs& reorder) {
    const Tensor kernel = unrounded(node.inputs[1]);
    auto& list = packed_[kernel.node()->id];
    for (OpNode* made : list)
      if (made->inputs[0] == kernel && made->device == node.device && made->attrs.get<ReorderAttrs>() == reorder)
        return made->output(0);
    const Tensor packed = rewrite_.add(node, "packed_kernel", op_reorder, {kernel}, Attrs(reorder));
    list.push_back(packed.node());
    return packed;
  }

  PlanGraph& plan_;
  internal::Rewrite rewrite_;
  std::unordered_map<int64_t, std::vector<OpNode*>> packed_;  // reorders by the node of the kernel
};

}  // namespace

bool assign_layout(PlanGraph& plan) {
  LayoutPass pass(plan);
  bool changed = false;
  for (OpNode* node : topological_order(plan.impl())) changed |= pass.visit(*node);
  if (changed) internal::drop_dead_nodes(plan);
  return changed;
}

}  // namespace martello
