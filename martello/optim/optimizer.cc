#include <martello/optim/optimizer.h>

#include <martello/autodiff/gradients.h>
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/node.h>
#include <martello/ops/variable.h>

namespace martello {

GradVars Optimizer::compute_gradients(Tensor cost, const std::vector<Variable>& vars) {
  MARTELLO_CHECK(!cost.is_null(), "[optimizer] the cost is a null Tensor: it was never assigned.");
  MARTELLO_CHECK(cost.rank() == 0, "[optimizer] the cost '", cost.name(), "' needs to be a scalar but is ",
                 cost.dtype(), cost.shape(), ". Use reduce_mean().\n  ", cost.node()->context());
  MARTELLO_CHECK(!vars.empty(), "[optimizer] there is no variable to train for cost '", cost.name(),
                 "'. Make one with get_variable(), or leave .trainable at true.");
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

}  // namespace martello
