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

// Sums so far, with this call, and the slots that keep them.
struct Sums {
  GradVars totals;
  std::vector<Variable> slots;
};

Sums add_up(const GradVars& grads, const std::function<Tensor(Tensor)>& weighted) {
  Sums sums;
  for (const GradVar& gv : grads) {
    sums.slots.push_back(make_slot(gv.var, "AccumGrad"));
    sums.totals.push_back({sums.slots.back() + weighted(gv.grad), gv.var});
  }
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
    std::vector<Operation> writes;
    GradVars mean;
    Sums sums;
    Tensor is_last;
    {
      NameScope scope("AccumGrad");
      is_last = equal(mod(counter + i64_scalar(1), i64_scalar(niter_)), i64_scalar(0), "is_last");
      const bool is_mean = options_.combine == AccumGradOptions::Combine::mean;
      if (options_.samples.is_null()) {
        const double weight = is_mean ? 1 / static_cast<double>(niter_) : 1;
        sums = add_up(grads, [&](Tensor g) { return weight == 1 ? g : g * weight; });
        mean = sums.totals;
      } else {
        const Variable seen = make_state("AccumGrad/samples", f64);
        const Tensor now = cast(options_.samples, f64), all = seen + now;
        sums = add_up(grads, [&](Tensor g) { return g * cast(now, g.dtype()); });
        for (const GradVar& gv : sums.totals) mean.push_back({gv.grad / cast(all, gv.grad.dtype()), gv.var});
        writes.push_back(assign(seen, where(is_last, zeros_like(all), all)));
      }
    }
    {
      const UpdateGate gate(is_last);
      writes.push_back(ProxyOptimizer::apply_gradients(mean, str(name.text(), "/apply")));
    }
    for (const Operation& op : keep(sums, is_last, str(name.text(), "/keep"))) writes.push_back(op);
    writes.push_back(assign_add(counter, i64_scalar(1)));
    return group(writes, name);
  });
}

}  // namespace martello
