#include <martello/optim/fused_optimizer.h>

#include <martello/autodiff/gradients.h>
#include <martello/base/error.h>
#include <martello/base/name_pattern.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/initializers.h>
#include <martello/ops/sparse_optimizer_update.h>
#include <martello/optim/groups.h>

#include <algorithm>
#include <optional>

namespace martello {

FusedOptimizer::FusedOptimizer(Operand learning_rate, Setup setup)
    : learning_rate_(learning_rate), setup_(std::move(setup)) {
  with_line(learning_rate.line(), [&] { check_options(); });
}

// "RMSProp" speaks as [rmsprop].
std::string FusedOptimizer::component() const {
  std::string name = setup_.title;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return 'A' <= c && c <= 'Z' ? c - 'A' + 'a' : c; });
  return name;
}

void FusedOptimizer::check_options() const {
  const auto& a = setup_.attrs;
  const auto check = [&](bool is_good, const char* what, double value, const char* range) {
    MARTELLO_CHECK(is_good, "[", component(), "] ", what, " is ", value, "; it must lie in ", range, ".");
  };
  check(a.momentum >= 0 && a.momentum < 1, "momentum", a.momentum, "[0, 1)");
  check(a.beta1 >= 0 && a.beta1 < 1, "beta1", a.beta1, "[0, 1)");
  check(a.beta2 >= 0 && a.beta2 < 1, "the decay of squares", a.beta2, "[0, 1)");
  check(a.epsilon >= 0, "epsilon", a.epsilon, "[0, inf)");
  check(setup_.decay.weight_decay >= 0, "weight_decay", setup_.decay.weight_decay, "[0, inf)");
  NamePattern(setup_.decay.no_decay, component());
}

UpdateGroup FusedOptimizer::make_group(const std::vector<Variable>& vars) const {
  UpdateGroup group{.gradients = {}, .variables = vars, .slots = {}, .gate = UpdateGate::current()};
  for (size_t s = 0; s < setup_.initial.size(); ++s) {
    auto& slots = group.slots.emplace_back();
    for (const Variable& v : vars)
      slots.push_back(make_slot(v, s == 0 ? setup_.title : str(setup_.title, "_", s), setup_.initial[s]));
  }
  if (traits_of(setup_.attrs.rule).counts_steps) {
    GraphScope root(vars[0].handle().op().graph());
    DeviceScope device(vars[0].handle().node()->device);
    group.step = raw_variable(setup_.title + "/step", {.dtype = i64, .initializer = zeros(), .trainable = false});
  }
  return group;
}

std::vector<double> FusedOptimizer::decays_of(const std::vector<Variable>& vars) const {
  const WeightDecay& d = setup_.decay;
  if (d.weight_decay == 0) return {};
  const NamePattern spared(d.no_decay, component());
  std::vector<double> list;
  for (const Variable& v : vars) {
    const bool is_decayed = !spared.matches(v.handle().name()) && (!d.decays || d.decays(v));
    list.push_back(is_decayed ? d.weight_decay : 0);
  }
  return list;
}

Operation FusedOptimizer::apply_gradients(const GradVars& grads, Name name) {
  return with_line(name.line(), [&] {
    check_gradients(grads, component());
    std::vector<Operation> updates;
    const std::string update_name = str(name.text(), "/update");
    GradVars dense;
    for (const GradVar& gv : grads) {
      const auto rows = setup_.takes_rows ? find_row_sparse(gv.grad) : std::nullopt;
      if (!rows) dense.push_back(gv);
      else
        updates.push_back(sparse_optimizer_update(learning_rate_, rows->indices, rows->values, make_group({gv.var}),
                                                  setup_.attrs, update_name));
    }
    for (const GradVars& alike : make_groups(dense)) {
      std::vector<Variable> vars;
      for (const GradVar& gv : alike) vars.push_back(gv.var);
      UpdateGroup group = make_group(vars);
      for (const GradVar& gv : alike) group.gradients.push_back(gv.grad);
      OptimizerUpdateAttrs attrs = setup_.attrs;
      attrs.weight_decay = decays_of(vars);
      updates.push_back(optimizer_update(learning_rate_, group, attrs, update_name));
    }
    return group(updates, name);
  });
}

}  // namespace martello
