#include <martello/optim/global_step.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/assign.h>
#include <martello/ops/initializers.h>

namespace martello {

Variable get_global_step_var() {
  const Graph graph = Graph::current();
  if (const auto found = graph.find_tensor("global_step")) {
    const OpNode& node = *found->node();
    MARTELLO_CHECK(node.def == &op_variable && found->dtype() == i64 && found->rank() == 0, "[global_step] '",
                   node.name, "' is ", found->dtype(), found->shape(), " of a ", node.def->name,
                   ", not an i64 scalar variable. Give that node another name.\n  ", node.context());
    return Variable(*found);
  }
  GraphScope root(graph);
  return get_variable("global_step", {.dtype = i64, .initializer = zeros(), .trainable = false});
}

Operation advance_global_step(const std::vector<Operation>& after, Name name) {
  return with_line(name.line(), [&] {
    const Variable step = get_global_step_var();
    ControlDependencies order(after);
    return assign_add(step, constant(HostTensor(int64_t{1}), "one"), name);
  });
}

}  // namespace martello
