// A device for every node. A value used on another device than its own gets one copy there:
//   %y = relu(%x) on("cpu:1"), %x on cpu:0  =>  %x_to_cpu1 = copy(%x) on("cpu:1");  %y = relu(%x_to_cpu1)
#include <martello/base/error.h>
#include <martello/graph/write_targets.h>
#include <martello/ops/assign.h>
#include <martello/passes/plan_graph.h>
#include <martello/tensor/device.h>

#include <map>

namespace martello {
namespace {

void choose_device(OpNode& node) {
  // A write runs where its variable lives, and a value without work where it is first asked for.
  const auto targets = write_targets(node);
  if (node.device.empty() && !targets.empty())
    node.device = node.inputs[static_cast<size_t>(targets[0])].node()->device;
  if (node.device.empty()) node.device = "cpu:0";
  const Device device = Device::parse(node.device);
  const bool has_kernel = device.kind == DeviceKind::cpu ? node.def->cpu != nullptr : node.def->cuda != nullptr;
  MARTELLO_CHECK(has_kernel || needs_no_kernel(*node.def), node.where(), "has no ", to_string(device.kind),
                 " kernel (op '", node.def->name, "': ", node.def->cpu ? "CPU only" : "no kernel at all",
                 "). Place it with DeviceScope(\"cpu:0\").\n  ", node.context());
}

}  // namespace

bool place(PlanGraph& plan) {
  std::vector<OpNode*> order = topological_order(plan.impl());
  for (OpNode* node : order) choose_device(*node);
  std::map<std::tuple<int64_t, int, std::string>, Tensor> copies;  // by node, output and device
  bool changed = false;
  for (OpNode* node : order) {
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      const Tensor t = node->inputs[i];
      if (t.node()->device == node->device || is_write_target(*node, i)) continue;
      Tensor& copied = copies[{t.node()->id, t.index(), node->device}];
      if (copied.is_null()) {
        OpNode* made = plan.impl().add(
            op_copy, {t}, Attrs(),
            plan.impl().unique_name(str(t.node()->name, "_to_", node->device.substr(0, node->device.find(':')),
                                        node->device.substr(node->device.find(':') + 1))),
            t.node()->line);
        made->device = node->device;
        copied = made->output(0);
      }
      node->inputs[i] = copied;
      changed = true;
    }
  }
  return changed;
}

}  // namespace martello
