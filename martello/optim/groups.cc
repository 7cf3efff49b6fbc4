#include <martello/optim/groups.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/ops/initializers.h>
#include <martello/ops/variable.h>

namespace martello {
namespace {

bool may_be_equal(const Shape& a, const Shape& b) {
  bool agrees = a.rank() == b.rank();
  for (int i = 0; agrees && i < a.rank(); ++i) agrees = a[i] == kUnknown || b[i] == kUnknown || a[i] == b[i];
  return agrees;
}

void check_pair(const GradVar& gv, const char* optimizer) {
  const Tensor v = gv.var.handle(), g = gv.grad;
  MARTELLO_CHECK(!v.is_null(), "[", optimizer, "] a variable is null: it was never assigned.");
  MARTELLO_CHECK(v.node()->def == &op_variable, "[", optimizer, "] '", v.name(), "' is a ", v.node()->def->name,
                 ", not a variable.");
  MARTELLO_CHECK(!g.is_null(), "[", optimizer, "] variable '", v.name(), "' has a null gradient. Leave it out.");
  MARTELLO_CHECK(g.dtype() == v.dtype() && may_be_equal(g.shape(), v.shape()), "[", optimizer, "] variable '", v.name(),
                 "' is ", v.dtype(), v.shape(), " but its gradient '", g.name(), "' is ", g.dtype(), g.shape(),
                 ". They must be equal.");
}

bool belongs_to(const UpdateGroup& group, const Variable& v) {
  const Tensor first = group.variables[0].handle();
  return first.dtype() == v.handle().dtype() && first.node()->device == v.handle().node()->device;
}

}  // namespace

std::vector<UpdateGroup> make_groups(const GradVars& grads, const char* optimizer) {
  std::vector<UpdateGroup> groups;
  for (const GradVar& gv : grads) {
    check_pair(gv, optimizer);
    UpdateGroup* found = nullptr;
    for (UpdateGroup& g : groups) {
      for (const Variable& v : g.variables)
        MARTELLO_CHECK(!(v.handle() == gv.var.handle()), "[", optimizer, "] variable '", gv.var.handle().name(),
                       "' appears twice. Add its gradients first.");
      if (!found && belongs_to(g, gv.var)) found = &g;
    }
    if (!found) found = &groups.emplace_back();
    found->gradients.push_back(gv.grad);
    found->variables.push_back(gv.var);
  }
  return groups;
}

Variable make_slot(const Variable& v, const std::string& slot) {
  const Tensor handle = v.handle();
  // The slot is named after the variable, wherever the optimizer is called.
  GraphScope root(handle.op().graph());
  DeviceScope device(handle.node()->device);
  return raw_variable(handle.name() + "/" + slot,
                      {.shape = handle.shape(), .dtype = handle.dtype(), .initializer = zeros(), .trainable = false});
}

void add_slots(UpdateGroup& group, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    auto& slots = group.slots.emplace_back();
    for (const Variable& v : group.variables) slots.push_back(make_slot(v, name));
  }
}

}  // namespace martello
