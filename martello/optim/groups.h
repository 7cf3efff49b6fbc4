#pragma once
#include <martello/graph/scopes.h>
#include <martello/ops/optimizer_update.h>
#include <martello/optim/optimizer.h>

#include <string>
#include <vector>

namespace martello {

// Throws unless the list has pairs of a variable and a gradient like it, each variable once. `optimizer` is who asks.
void check_gradients(const GradVars& grads, const std::string& optimizer);
// What one update node can take: one dtype, one device. In order of first appearance.
std::vector<GradVars> make_groups(const GradVars& grads);
std::vector<std::vector<Variable>> make_groups(const std::vector<Variable>& vars);
// A variable like `v`, named `v/slot`; a second optimizer on the same variable gets a suffix.
Variable make_slot(const Variable& v, const std::string& slot, double initial = 0);

// Updates made inside write only in runs in which the boolean scalar is true. Scopes do not nest.
class UpdateGate {
 public:
  [[nodiscard]] explicit UpdateGate(Tensor is_open);
  ~UpdateGate();
  UpdateGate(const UpdateGate&) = delete;
  UpdateGate& operator=(const UpdateGate&) = delete;
  static Tensor current();  // null: none
};

}  // namespace martello
