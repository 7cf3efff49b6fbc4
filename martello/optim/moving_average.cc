#include <martello/optim/moving_average.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/variable.h>
#include <martello/optim/groups.h>

#include <algorithm>
#include <map>
#include <set>

namespace martello {
namespace {

// The same initializer, body and all: random numbers in it are those of the variable.
Variable make_shadow(const Variable& v) {
  OpNode& node = *v.handle().node();
  MARTELLO_CHECK(node.def == &op_variable, "[moving_average] '", node.name, "' is a ", node.def->name,
                 ", not a variable.");
  VariableAttrs attrs = node.attrs.get<VariableAttrs>();
  MARTELLO_CHECK(attrs.dtype == f32 || attrs.dtype == f64, "[moving_average] variable '", node.name, "' is ",
                 attrs.dtype, attrs.shape, "; an average needs f32 or f64.");
  attrs.trainable = false;
  attrs.kind = VariableKind::global;
  OpNode* shadow =
      node.graph->add(op_variable, {}, Attrs(attrs), node.graph->unique_name(node.name + "/ExponentialMovingAverage"),
                      LineScope::effective(node.line));
  shadow->device = node.device;
  const Variable made(shadow->output(0));
  node.graph->collections.add(kGlobalVariables, made);
  return made;
}

}  // namespace

MovingAverage::MovingAverage(double decay, std::vector<Variable> vars, MovingAverageOptions options)
    : decay_(decay), options_(options), vars_(std::move(vars)) {
  MARTELLO_CHECK(decay >= 0 && decay <= 1, "[moving_average] decay is ", decay, "; it must lie in [0, 1].");
  MARTELLO_CHECK(!vars_.empty(), "[moving_average] was given no variables.");
  std::set<const OpNode*> seen;
  for (const Variable& v : vars_) {
    MARTELLO_CHECK(!v.handle().is_null(), "[moving_average] a variable is null: it was never assigned.");
    MARTELLO_CHECK(seen.insert(v.handle().node()).second, "[moving_average] was given variable '", v.handle().name(),
                   "' twice.");
    shadows_.push_back(make_shadow(v));
  }
}

std::vector<Operation> MovingAverage::each_group(Operand rate, UpdateRule rule, Name name) const {
  std::map<const OpNode*, Variable> shadow_of;
  for (size_t i = 0; i < vars_.size(); ++i) shadow_of[vars_[i].handle().node()] = shadows_[i];
  std::vector<Operation> writes;
  for (const std::vector<Variable>& alike : make_groups(vars_)) {
    UpdateGroup group;
    group.slots.push_back(alike);
    for (const Variable& v : alike) group.variables.push_back(shadow_of[v.handle().node()]);
    writes.push_back(optimizer_update(rate, group, {.rule = rule}, name));
  }
  return writes;
}

Operation MovingAverage::update_after(Operation step, Name name) {
  return with_line(name.line(), [&] {
    MARTELLO_CHECK(!step.is_null(), "[moving_average] update_after() needs the operation that trains; it is null.");
    Operand rate = 1 - decay_;
    if (!options_.num_updates.is_null()) {
      NameScope scope(name.text());
      const Tensor n = cast(options_.num_updates, f64);
      rate = 1.0 - minimum((n + 1.0) / (n + 10.0), decay_);
    }
    const ControlDependencies after({step});
    std::vector<Operation> all = each_group(rate, UpdateRule::average, str(name.text(), "/update"));
    all.push_back(step);
    return group(all, name);
  });
}

Operation MovingAverage::swap(Name name) {
  return with_line(name.line(),
                   [&] { return group(each_group(1, UpdateRule::swap, str(name.text(), "/swap")), name); });
}

Operation MovingAverage::assign_averages(Name name) {
  return with_line(name.line(), [&] {
    std::vector<Operation> writes;
    for (size_t i = 0; i < vars_.size(); ++i) writes.push_back(assign(vars_[i], shadows_[i]));
    return group(writes, name);
  });
}

Variable MovingAverage::average(const Variable& v) const {
  const auto found =
      std::find_if(vars_.begin(), vars_.end(), [&](const Variable& other) { return other.handle() == v.handle(); });
  MARTELLO_CHECK(found != vars_.end(), "[moving_average] '", v.handle().is_null() ? "" : v.handle().name(),
                 "' is not one of the ", vars_.size(), " variables that are averaged.");
  return shadows_[static_cast<size_t>(found - vars_.begin())];
}

}  // namespace martello
