#pragma once
#include <martello/ops/optimizer_update.h>
#include <martello/optim/optimizer.h>

#include <functional>
#include <string>
#include <vector>

namespace martello {

// Which variables are decayed, and by how much: those whose whole name does not match `no_decay` and for which `decays`
// says yes. Every step multiplies them by 1 - learning_rate * weight_decay, apart from the gradient.
struct WeightDecay {
  double weight_decay = 0;
  std::string no_decay = {};                           // a regular expression: ".*/(b|gamma|beta)"
  std::function<bool(const Variable& v)> decays = {};  // default: yes
};

// An optimizer that is one rule: one node per group of variables, in one pass over their memory.
class FusedOptimizer : public Optimizer {
 public:
  Operation apply_gradients(const GradVars& grads, Name name = Name("apply_gradients", SourceLine::current())) override;

 protected:
  struct Setup {
    std::string title;  // of slots: `fc/W/Adam`, `fc/W/Adam_1`
    OptimizerUpdateAttrs attrs;
    std::vector<double> initial;  // of each slot
    WeightDecay decay = {};
    bool takes_rows = false;  // a gradient known to touch some rows only changes these
  };
  FusedOptimizer(Operand learning_rate, Setup setup);

 private:
  std::string component() const;
  void check_options() const;
  UpdateGroup make_group(const std::vector<Variable>& vars) const;
  std::vector<double> decays_of(const std::vector<Variable>& vars) const;

  Operand learning_rate_;
  Setup setup_;
};

}  // namespace martello
