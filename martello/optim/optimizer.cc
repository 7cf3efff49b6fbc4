#include <martello/optim/optimizer.h>

#include <martello/autodiff/gradients.h>
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/initializers.h>
#include <martello/ops/variable.h>
#include <martello/optim/groups.h>

namespace martello {

GradVars Optimizer::compute_gradients(Tensor cost, const std::vector<Variable>& vars) {
  MARTELLO_CHECK(!cost.is_null(), "[optimizer] the cost is a null Tensor: it was never assigned.");
  MARTELLO_CHECK(cost.rank() == 0, "[optimizer] the cost '", cost.name(), "' needs to be a scalar but is ",
                 cost.dtype(), cost.shape(), ". Use reduce_mean().\n  ", cost.node()->context());
  const TensorList grads = gradients(cost, vars, {}, {GradientOptions::Unconnected::null});
  GradVars result;
  for (size_t i = 0; i < vars.size(); ++i) {
    if (grads[i].is_null())
      logger::warn("[optimizer] cost '", cost.name(), "' does not depend on variable '", vars[i].handle().name(),
                   "': it is not trained.");
    else result.push_back({grads[i], vars[i]});
  }
  MARTELLO_CHECK(!result.empty(), "[optimizer] the cost '", cost.name(), "' depends on none of the ", vars.size(),
                 " variables given. Use them to compute it.");
  return result;
}

Operation Optimizer::minimize(Tensor cost, const std::vector<Variable>& vars, Name name) {
  return with_line(name.line(), [&] { return apply_gradients(compute_gradients(cost, vars), name); });
}

Operation Optimizer::minimize(Tensor cost, Name name) { return minimize(cost, trainable_variables(), name); }

Momentum::Momentum(Operand learning_rate, MomentumOptions options) : learning_rate_(learning_rate), options_(options) {}

Operation Momentum::apply_gradients(const GradVars& grads, Name name) {
  return with_line(name.line(), [&] {
    std::vector<Operation> updates;
    for (UpdateGroup& group : make_groups(grads, "momentum")) {
      add_slots(group, {"Momentum"});
      updates.push_back(momentum_update(learning_rate_, group,
                                        {.momentum = options_.momentum, .nesterov = options_.nesterov},
                                        str(name.text(), "/update")));
    }
    return group(updates, name);
  });
}

Adam::Adam(Operand learning_rate, AdamOptions options) : learning_rate_(learning_rate), options_(options) {}

Operation Adam::apply_gradients(const GradVars& grads, Name name) {
  return with_line(name.line(), [&] {
    std::vector<Operation> updates;
    for (UpdateGroup& group : make_groups(grads, "adam")) {
      add_slots(group, {"Adam", "Adam_1"});
      const Variable step =
          raw_variable(str(name.text(), "/step"), {.dtype = i64, .initializer = zeros(), .trainable = false});
      updates.push_back(adam_update(learning_rate_, step, group,
                                    {.beta1 = options_.beta1, .beta2 = options_.beta2, .epsilon = options_.epsilon},
                                    str(name.text(), "/update")));
    }
    return group(updates, name);
  });
}

}  // namespace martello
