#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/runtime/internal/non_finite_watch.h>
#include <martello/runtime/internal/session_impl.h>

#include <shared_mutex>

namespace martello {

// A skipped run has left no trace, so its computation can be done again: with every op on its own, which gives the same
// bits, and a look at each result. Host functions and prints are called a second time.
std::string Session::Impl::explain(const RunSignature& signature, const HostTensor* feeds, int stream) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < signature.feeds.size(); ++i) shapes.push_back(feeds[i].shape());
  std::shared_ptr<const Plan> plan;
  {
    std::lock_guard lock(plans_mutex);
    std::vector<std::string> disabled = options.disabled_passes;
    disabled.push_back("fuse");
    plan = make_plan(signature, shapes, disabled);
  }
  initialize(*plan);
  NonFiniteWatch watch(*plan->program);
  const LaneLease lease(*this);
  BoundProgram& bound = lease.lane().bind(*plan);
  for (size_t i = 0; i < plan->program->feeds.size(); ++i)
    if (plan->program->is_feed_used[i]) bound.set_feed(i, feeds[i].raw());
  bound.watch(watch);
  bound.start(stream);
  std::shared_lock lock(store.mutex);
  refresh_variables(bound, *plan);
  for (size_t s = 0; s < plan->program->segments.size() && plan->program->segments[s].phase == Phase::compute; ++s)
    lease.lane().team().run(plan->program->devices.size(),
                            [&](size_t device) { bound.run_segment(s, device, nullptr); });
  lease.lane().forget(plan->id);
  return watch.report();
}

void Session::Impl::report_skip(const RunSignature& signature, const HostTensor* feeds, int stream) {
  const int64_t number = ++skipped_runs;
  if (number > options.explained_skips) return;
  std::string why;
  try {
    why = explain(signature, feeds, stream);
  } catch (const Error& e) {
    why = str("\n  doing its computation again failed: ", e.what());
  }
  logger::warn("[session] a gradient is not finite: this run wrote nothing (", number, " so far).", why);
}

}  // namespace martello
