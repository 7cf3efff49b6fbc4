#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/update_rule.h>

#include <vector>

// Optimizer updates: one node writes all variables of a group and their slots in one pass over flat memory (lamb: two).
namespace martello {

struct OptimizerUpdateAttrs {
  UpdateRule rule = UpdateRule::gradient_descent;
  int64_t count = 0;  // variables in the group
  double momentum = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool has_corrected_epsilon = false;     // adam: epsilon is added to the bias-corrected root, as in the paper's text
  std::vector<double> weight_decay = {};  // by variable; empty: none
  bool is_gated = false;                  // an input says whether this run writes at all
  // Matrices whose gradient is given by two factors a [k, rows] and b [k, columns]: it is a^T b, and each of its
  // elements is used as soon as it is known. Made by plans where nobody else needs the gradient.
  std::vector<int64_t> products = {};
  bool operator==(const OptimizerUpdateAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("rule", self.rule);
    f("count", self.count);
    f("momentum", self.momentum);
    f("beta1", self.beta1);
    f("beta2", self.beta2);
    f("epsilon", self.epsilon);
    f("has_corrected_epsilon", self.has_corrected_epsilon);
    f("weight_decay", self.weight_decay);
    f("is_gated", self.is_gated);
    f("products", self.products);
  }
};

// What an update works on. All lists are of one length; tensors i of them have one shape and dtype.
struct UpdateGroup {
  std::vector<Tensor> gradients;
  std::vector<Variable> variables;
  std::vector<std::vector<Variable>> slots;  // one list per slot
  Variable step = {};                        // i64 scalar, for rules that count steps: runs that wrote so far
  Tensor gate = {};                          // boolean scalar: when false, the run writes nothing here
};

// attrs.count and attrs.is_gated follow from the group.
Operation optimizer_update(Operand learning_rate, const UpdateGroup& group, OptimizerUpdateAttrs attrs = {},
                           Name name = "optimizer_update");

extern const OpDef op_optimizer_update;

}  // namespace martello
