#pragma once
#include <martello/graph/kernel.h>
#include <martello/passes/plan_graph.h>

#include <algorithm>
#include <vector>

namespace martello::internal {

// With what a pass asks the kernels of a node, whose sizes must be known.
class NodePlan {
 public:
  static bool is_known(const OpNode& node) {
    const auto is_static = [](const Tensor& t) { return t.shape().is_known(); };
    return std::all_of(node.inputs.begin(), node.inputs.end(), is_static) && node.outputs[0].shape.is_known();
  }

  NodePlan(const OpNode& node, int threads) : node_(node), threads_(threads) {
    for (const Tensor& t : node.inputs) in_.push_back({t.shape(), t.dtype(), {}, {}});
    for (const NodeOutput& o : node.outputs) out_.push_back(o.spec());
  }

  const std::vector<TensorSpec>& in() const { return in_; }
  const std::vector<TensorSpec>& out() const { return out_; }
  KernelPlan kernel_plan() const {
    return {.op = node_.info(),
            .in = in_,
            .out = out_,
            .attributes = &node_.attrs,
            .threads = threads_,
            .device = {},
            .subgraphs = nullptr,
            .communicator = nullptr};
  }

 private:
  const OpNode& node_;
  int threads_;
  std::vector<TensorSpec> in_, out_;
};

}  // namespace martello::internal
