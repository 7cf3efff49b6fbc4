#include <martello/callbacks/averaged_weights.h>

#include <martello/base/error.h>
#include <martello/base/name_pattern.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/assign.h>
#include <martello/ops/variable.h>
#include <martello/optim/global_step.h>
#include <martello/optim/moving_average.h>

namespace martello {

AveragedWeights::AveragedWeights(AveragedWeightsOptions options) : options_(std::move(options)) {
  MARTELLO_CHECK(options_.decay >= 0 && options_.decay < 1, "[AveragedWeights] .decay is ", options_.decay,
                 "; it must lie in [0, 1).");
}

std::string AveragedWeights::description() const {
  return str(name(), "(decay=", options_.decay, ", warm_up=", options_.warm_up, ", variables=", options_.variables,
             ")");
}

void AveragedWeights::setup_graph() {
  const NamePattern pattern(options_.variables, name());
  std::vector<Variable> chosen;
  std::vector<std::string> names;
  for (const Variable& v : trainable_variables()) {
    names.push_back(v.handle().name());
    if (pattern.matches(names.back())) chosen.push_back(v);
  }
  MARTELLO_CHECK(!chosen.empty(), "[AveragedWeights] no trainable variable matches ", quoted(options_.variables), ": ",
                 names.empty() ? "the graph has none" : join(names), ".");
  MovingAverage average(options_.decay, chosen,
                        {.num_updates = options_.warm_up ? Tensor(get_global_step_var()) : Tensor()});
  update_op_ = average.update_after(group({}, "step"));
  swap_op_ = average.swap();
  std::vector<Operation> starts;
  for (const Variable& v : chosen) starts.push_back(assign(average.average(v), v.handle()));
  start_op_ = group(starts, "start_averages");
}

// Weights that were loaded are no longer those of their initializers, from which the averages start.
void AveragedWeights::before_train() {
  if (global_step() == 0) sess().run(start_op_);
  update_ = sess().prepare(update_op_);
}

// In a run of its own: within the step's it would see the weights from before it.
void AveragedWeights::after_run(RunContext& run) {
  if (!run.was_skipped()) update_.run();
}

void AveragedWeights::swap() { sess().run(swap_op_); }

WithAveragedWeights::WithAveragedWeights(std::shared_ptr<AveragedWeights> averages, Ref<Callback> callback)
    : ProxyCallback(std::move(callback)), averages_(std::move(averages)) {
  MARTELLO_CHECK(averages_, "[WithAveragedWeights] was given no AveragedWeights.");
}

void WithAveragedWeights::setup_graph() {
  MARTELLO_CHECK(averages_->has_context(), "[", name(),
                 "] its AveragedWeights is not among the callbacks of this training. Give it there too.");
  ProxyCallback::setup_graph();
}

void WithAveragedWeights::with_averages(void (Callback::*hook)()) {
  averages_->swap();
  try {
    (inner().*hook)();
  } catch (...) {
    averages_->swap();
    throw;
  }
  averages_->swap();
}

void WithAveragedWeights::trigger_epoch() { with_averages(&Callback::trigger_epoch); }
void WithAveragedWeights::trigger() { with_averages(&Callback::trigger); }

}  // namespace martello
