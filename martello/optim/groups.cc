#include <martello/optim/groups.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/ops/initializers.h>
#include <martello/ops/variable.h>

#include <unordered_set>

namespace martello {
namespace {

thread_local Tensor open_gate;

bool may_be_equal(const Shape& a, const Shape& b) {
  bool agrees = a.rank() == b.rank();
  for (int i = 0; agrees && i < a.rank(); ++i) agrees = a[i] == kUnknown || b[i] == kUnknown || a[i] == b[i];
  return agrees;
}

void check_pair(const GradVar& gv, const std::string& optimizer) {
  const Tensor v = gv.var.handle(), g = gv.grad;
  MARTELLO_CHECK(!v.is_null(), "[", optimizer, "] a variable is null: it was never assigned.");
  MARTELLO_CHECK(v.node()->def == &op_variable, "[", optimizer, "] '", v.name(), "' is a ", v.node()->def->name,
                 ", not a variable.");
  MARTELLO_CHECK(!g.is_null(), "[", optimizer, "] variable '", v.name(),
                 "' has a null gradient. Leave it out, or use FilterNoneGrad().");
  MARTELLO_CHECK(g.dtype() == v.dtype() && may_be_equal(g.shape(), v.shape()), "[", optimizer, "] variable '", v.name(),
                 "' is ", v.dtype(), v.shape(), " but its gradient '", g.name(), "' is ", g.dtype(), g.shape(),
                 ". They must be equal.");
}

bool are_alike(const Variable& a, const Variable& b) {
  return a.handle().dtype() == b.handle().dtype() && a.handle().node()->device == b.handle().node()->device;
}

// `variable_of` says which variable an item belongs to.
template <class Item, class F>
std::vector<std::vector<Item>> split_alike(const std::vector<Item>& items, const F& variable_of) {
  std::vector<std::vector<Item>> groups;
  for (const Item& item : items) {
    std::vector<Item>* found = nullptr;
    for (auto& g : groups)
      if (!found && are_alike(variable_of(g[0]), variable_of(item))) found = &g;
    (found ? *found : groups.emplace_back()).push_back(item);
  }
  return groups;
}

}  // namespace

void check_gradients(const GradVars& grads, const std::string& optimizer) {
  MARTELLO_CHECK(!grads.empty(), "[", optimizer,
                 "] there is nothing to update: the list of gradients is empty. Give at least one variable with a "
                 "gradient, and look whether a gradient processor drops them all.");
  std::unordered_set<const OpNode*> seen;
  for (const GradVar& gv : grads) {
    check_pair(gv, optimizer);
    MARTELLO_CHECK(seen.insert(gv.var.handle().node()).second, "[", optimizer, "] variable '", gv.var.handle().name(),
                   "' appears twice. Add its gradients first.");
  }
}

std::vector<GradVars> make_groups(const GradVars& grads) {
  return split_alike(grads, [](const GradVar& gv) { return gv.var; });
}

std::vector<std::vector<Variable>> make_groups(const std::vector<Variable>& vars) {
  return split_alike(vars, [](const Variable& v) { return v; });
}

Variable make_slot(const Variable& v, const std::string& slot, double initial) {
  const Tensor handle = v.handle();
  // The slot is named after the variable, wherever the optimizer is called.
  GraphScope root(handle.op().graph());
  DeviceScope device(handle.node()->device);
  return raw_variable(
      handle.name() + "/" + slot,
      {.shape = handle.shape(), .dtype = handle.dtype(), .initializer = constant_init(initial), .trainable = false});
}

UpdateGate::UpdateGate(Tensor is_open) {
  MARTELLO_CHECK(
      open_gate.is_null(),
      "[optimizer] AccumGradOptimizer inside AccumGradOptimizer. Use one, with the product of both numbers.");
  open_gate = is_open;
}
UpdateGate::~UpdateGate() { open_gate = Tensor(); }
Tensor UpdateGate::current() { return open_gate; }

}  // namespace martello
