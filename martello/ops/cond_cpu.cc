#include <martello/base/error.h>
#include <martello/ops/cond.h>

#include <algorithm>

namespace martello {

// Both branches are bound; they share scratch, of which one run uses one branch's.
Kernel cond_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<CondAttrs>();
  const auto n = static_cast<size_t>(a.then_inputs);
  MARTELLO_ASSERT(plan.subgraphs, "cond '", plan.op.name, "' is planned without a planner of bodies");
  const Kernel on_true = plan.subgraphs->plan(a.then_body, plan.in.subspan(1, n), plan.threads);
  const Kernel on_false = plan.subgraphs->plan(a.else_body, plan.in.subspan(1 + n), plan.threads);
  return Kernel::with_bind([on_true, on_false, n](const KernelRun& addresses) -> BoundKernel {
           const auto of_branch = [n](KernelRun run, bool pred) {
             run.in_ += pred ? 1 : 1 + n;
             return run;
           };
           return [of_branch, then_run = on_true.bind(of_branch(addresses, true)),
                   else_run = on_false.bind(of_branch(addresses, false))](const KernelRun& run) {
             const bool pred = run.in<bool>(0)[0];
             (pred ? then_run : else_run)(of_branch(run, pred));
           };
         })
      .scratch(std::max(on_true.scratch_bytes(), on_false.scratch_bytes()))
      .implementation(str("then: ", on_true.implementation(), "; else: ", on_false.implementation()));
}

}  // namespace martello
