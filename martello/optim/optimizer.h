#pragma once
#include <martello/base/ref.h>
#include <martello/graph/op_def.h>

#include <vector>

namespace martello {

struct GradVar {
  Tensor grad;
  Variable var;
};
using GradVars = std::vector<GradVar>;

// Turns gradients into an update of variables. Slots are variables named after the one they belong to:
// `fc/W/Momentum`.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Variables that the cost does not depend on are left out, with a warning.
  virtual GradVars compute_gradients(Tensor cost, const std::vector<Variable>& vars);
  // (A default Name of a member says where it comes from: GCC would take this line.)
  virtual Operation apply_gradients(const GradVars& grads,
                                    Name name = Name("apply_gradients", SourceLine::current())) = 0;
  // Both. Without variables: all trainable ones.
  Operation minimize(Tensor cost, const std::vector<Variable>& vars,
                     Name name = Name("minimize", SourceLine::current()));
  Operation minimize(Tensor cost, Name name = Name("minimize", SourceLine::current()));
};
using OptimizerRef = Ref<Optimizer>;

}  // namespace martello
