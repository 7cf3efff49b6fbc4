#include <martello/optim/wrappers.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/assign.h>
#include <martello/ops/finite_norm.h>
#include <martello/ops/where.h>
#include <martello/optim/groups.h>

namespace martello {
namespace {

// The variable as the update left it.
Variable after_update(const Variable& v) { return Variable(v.handle(), read_variable(v)); }

}  // namespace

ProxyOptimizer::ProxyOptimizer(Ref<Optimizer> optimizer) : optimizer_(std::move(optimizer)) {
  MARTELLO_CHECK(optimizer_, "[optimizer] a wrapper was given no optimizer: the Ref is null.");
}

GradVars ProxyOptimizer::compute_gradients(Tensor cost, const std::vector<Variable>& vars) {
  return optimizer_->compute_gradients(cost, vars);
}

Operation ProxyOptimizer::apply_gradients(const GradVars& grads, Name name) {
  return optimizer_->apply_gradients(grads, name);
}

PostProcessOptimizer::PostProcessOptimizer(Ref<Optimizer> optimizer, Function f)
    : ProxyOptimizer(std::move(optimizer)), function_(std::move(f)) {
  MARTELLO_CHECK(function_, "[post_process_optimizer] was given no function.");
}

Operation PostProcessOptimizer::apply_gradients(const GradVars& grads, Name name) {
  return with_line(name.line(), [&] {
    MARTELLO_CHECK(UpdateGate::current().is_null(),
                   "[post_process_optimizer] inside an AccumGradOptimizer its operations would run in every step, not "
                   "only when the variables change. Put the AccumGradOptimizer inside.");
    std::vector<Operation> all = {ProxyOptimizer::apply_gradients(grads, str(name.text(), "/inner"))};
    {
      const ControlDependencies after(all);
      for (const GradVar& gv : grads)
        if (const Operation op = function_(after_update(gv.var)); !op.is_null()) all.push_back(op);
    }
    return group(all, name);
  });
}

VariableAssignmentOptimizer::VariableAssignmentOptimizer(Ref<Optimizer> optimizer, Function f)
    : ProxyOptimizer(std::move(optimizer)), function_(std::move(f)) {
  MARTELLO_CHECK(function_, "[variable_assignment_optimizer] was given no function.");
}

Operation VariableAssignmentOptimizer::apply_gradients(const GradVars& grads, Name name) {
  return with_line(name.line(), [&] {
    const Tensor gate = UpdateGate::current();
    std::vector<Operation> all = {ProxyOptimizer::apply_gradients(grads, str(name.text(), "/inner"))};
    {
      const ControlDependencies after(all);
      for (const GradVar& gv : grads) {
        const Variable fresh = after_update(gv.var);
        const Tensor value = function_(fresh);
        if (value.is_null()) continue;
        all.push_back(assign(gv.var, gate.is_null() ? value : where(gate, value, fresh)));
      }
    }
    return group(all, name);
  });
}

Operation SkipNonFinite::apply_gradients(const GradVars& grads, Name name) {
  return with_line(name.line(), [&] {
    check_gradients(grads, "skip_non_finite");
    std::vector<Operation> checks;
    for (const GradVars& alike : make_groups(grads)) {
      TensorList list;
      for (const GradVar& gv : alike) list.push_back(gv.grad);
      checks.push_back(finite_norm(list, str(name.text(), "/finite_norm")).op());
    }
    const ControlDependencies after(checks);
    return ProxyOptimizer::apply_gradients(grads, name);
  });
}

}  // namespace martello
