#include <martello/optim/accumulate_gradients.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/compare.h>
#include <martello/ops/initializers.h>
#include <martello/ops/where.h>
#include <martello/optim/groups.h>

namespace martello {
namespace {

Tensor i64_scalar(int64_t value) { return constant(HostTensor(value)); }

Variable make_state(const char* name, DType dtype) {
  GraphScope root(Graph::current());
  return raw_variable(name, {.dtype = dtype, .initializer = zeros(), .trainable = false});
}

// Sums so far, with this call, the slots that keep them, and what is applied when the round is over.
struct Sums {
  GradVars totals, applied;
  std::vector<Variable> slots;
  Tensor is_complete;  // whether they are applied
  std::vector<Operation> writes = {};
};

Sums add_up(const GradVars& grads, const std::function<Tensor(Tensor)>& weighted) {
  Sums sums;
  for (const GradVar& gv : grads) {
    sums.slots.push_back(make_slot(gv.var, "AccumGrad"));
    sums.totals.push_back({sums.slots.back() + weighted(gv.grad), gv.var});
  }
  sums.applied = sums.totals;
  return sums;
}

// Gradients weighed by the samples of their batch, and divided by all samples of the round. A batch without samples
// counts for nothing, whatever its mean is; a round without any updates nothing.
Sums add_up_samples(const GradVars& grads, Tensor samples, Tensor is_last) {
  MARTELLO_CHECK(samples.rank() == 0, "[accum_grad] samples '", samples.name(), "' ", samples.shape(),
                 " is no scalar: it is the number of samples of a batch.");
  const Variable seen = make_state("AccumGrad/samples", f64);
  const Tensor now = cast(samples, f64), all = seen + now;
  Sums sums = add_up(grads, [&](Tensor g) { return where(now > 0, g * cast(now, g.dtype()), 0.0); });
  sums.is_complete = logical_and(is_last, all > 0);
  for (GradVar& gv : sums.applied) gv.grad = gv.grad / cast(all, gv.grad.dtype());
  sums.writes = {assign(seen, where(is_last, zeros_like(all), all))};
  return sums;
}

// Keeps the totals for the next call, or nothing after the last one of a round.
std::vector<Operation> keep(const Sums& sums, Tensor is_last, const std::string& name) {
  GradVars kept;
  for (size_t i = 0; i < sums.slots.size(); ++i) kept.push_back({sums.totals[i].grad, sums.slots[i]});
  std::vector<Operation> writes;
  const Tensor factor = where(is_last, constant(0), constant(1));
  for (const GradVars& alike : make_groups(kept)) {
    UpdateGroup group;
    for (const GradVar& gv : alike) {
      group.gradients.push_back(gv.grad);
      group.variables.push_back(gv.var);
    }
    writes.push_back(optimizer_update(factor, group, {.rule = UpdateRule::accumulate}, name));
  }
  return writes;
}

}  // namespace

AccumGradOptimizer::AccumGradOptimizer(Ref<Optimizer> optimizer, int64_t niter, AccumGradOptions options)
    : ProxyOptimizer(std::move(optimizer)), niter_(niter), options_(options) {
  MARTELLO_CHECK(niter >= 1, "[accum_grad] niter is ", niter, "; at least 1 call makes an update.");
  MARTELLO_CHECK(options.samples.is_null() || options.combine == AccumGradOptions::Combine::mean,
                 "[accum_grad] samples weigh a mean; with Combine::sum leave them out.");
}

Operation AccumGradOptimizer::apply_gradients(const GradVars& grads, Name name) {
  return with_line(name.line(), [&] {
    check_gradients(grads, "accum_grad");
    const Variable counter = make_state("AccumGrad/counter", i64);
    const double weight = options_.combine == AccumGradOptions::Combine::mean ? 1 / static_cast<double>(niter_) : 1;
    Tensor is_last;
    Sums sums;
    {
      NameScope scope("AccumGrad");
      is_last = equal(mod(counter + i64_scalar(1), i64_scalar(niter_)), i64_scalar(0), "is_last");
      if (!options_.samples.is_null()) sums = add_up_samples(grads, options_.samples, is_last);
      else sums = add_up(grads, [&](Tensor g) { return weight == 1 ? g : g * weight; });
      if (sums.is_complete.is_null()) sums.is_complete = is_last;
    }
    std::vector<Operation> all = sums.writes;
    {
      const UpdateGate gate(sums.is_complete);
      all.push_back(ProxyOptimizer::apply_gradients(sums.applied, str(name.text(), "/apply")));
    }
    for (const Operation& op : keep(sums, is_last, str(name.text(), "/keep"))) all.push_back(op);
    all.push_back(assign_add(counter, i64_scalar(1)));
    return group(all, name);
  });
}

}  // namespace martello
