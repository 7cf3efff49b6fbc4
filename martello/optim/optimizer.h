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

struct MomentumOptions {
  double momentum = 0.9;
  bool nesterov = false;
};
// m = momentum m + g;  w -= lr m.
class Momentum : public Optimizer {
 public:
  explicit Momentum(Operand learning_rate, MomentumOptions options = {});
  Operation apply_gradients(const GradVars& grads, Name name = Name("momentum", SourceLine::current())) override;

 private:
  Operand learning_rate_;
  MomentumOptions options_;
};

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};
// As in the paper's efficient form: the bias corrections are part of the rate, epsilon is added to sqrt(v).
class Adam : public Optimizer {
 public:
  explicit Adam(Operand learning_rate, AdamOptions options = {});
  Operation apply_gradients(const GradVars& grads, Name name = Name("adam", SourceLine::current())) override;

 private:
  Operand learning_rate_;
  AdamOptions options_;
};

}  // namespace martello
