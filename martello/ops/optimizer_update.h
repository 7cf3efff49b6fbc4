#pragma once
#include <martello/graph/op_def.h>

#include <vector>

// Optimizer updates: one node writes all variables of a group and their slots in one pass over flat memory.
namespace martello {

struct MomentumUpdateAttrs {
  int64_t count = 0;  // variables in the group
  double momentum = 0.9;
  bool nesterov = false;
  bool operator==(const MomentumUpdateAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("count", self.count);
    f("momentum", self.momentum);
    f("nesterov", self.nesterov);
  }
};

struct AdamUpdateAttrs {
  int64_t count = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool operator==(const AdamUpdateAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("count", self.count);
    f("beta1", self.beta1);
    f("beta2", self.beta2);
    f("epsilon", self.epsilon);
  }
};

// What an update works on. All lists are of one length; tensors i of them have one shape and dtype.
struct UpdateGroup {
  std::vector<Tensor> gradients;
  std::vector<Variable> variables;
  std::vector<std::vector<Variable>> slots;  // one list per slot
};

// m = momentum m + g;  w -= lr m   (Nesterov: w -= lr (g + momentum m)). One slot: m.
Operation momentum_update(Operand learning_rate, const UpdateGroup& group, MomentumUpdateAttrs attrs = {},
                          Name name = "momentum_update");
// t += 1;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  w -= lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) +
// epsilon). Two slots: m, v. `step` is an i64 scalar variable, t.
Operation adam_update(Operand learning_rate, Variable step, const UpdateGroup& group, AdamUpdateAttrs attrs = {},
                      Name name = "adam_update");

extern const OpDef op_momentum_update, op_adam_update;

}  // namespace martello
