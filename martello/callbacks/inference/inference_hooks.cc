#include <martello/base/error.h>
#include <martello/callbacks/inference/internal/inference_hooks.h>
#include <martello/loop/internal/class_name.h>

namespace martello {

std::string Inferencer::name() const { return internal::class_name(typeid(*this)); }

namespace internal {

void SampleHook::before_run(RunContext& run) {
  if (!sizes_.is_null()) run.fetch(sizes_, SourceLine());
}

void SampleHook::after_run(RunContext& run) {
  if (!sizes_.is_null()) samples_ = run.value().data<int64_t>()[0];
  total_ += samples_;
}

void InferencerHook::before_run(RunContext& run) {
  for (const Tensor& t : tensors_) run.fetch(t, SourceLine());
}

void InferencerHook::after_run(RunContext& run) try {
  if (is_silent_) return;
  values_.clear();
  for (size_t i = 0; i < tensors_.size(); ++i) values_.push_back(run.value(static_cast<int>(i)));
  inferencer_.num_samples_ = samples_.samples();
  inferencer_.on_fetches(values_);
  values_.clear();
} catch (const StopTraining&) {
  throw;
} catch (Error& e) {
  e.add_context(str("in on_fetches of inferencer '", inferencer_.name(), "'"));
  throw;
}

void InputHook::before_run(RunContext& run) {
  has_ended_ = false;
  try {
    callback_.before_run(run);
  } catch (const StopTraining&) {
    has_ended_ = true;
    throw;
  }
}

}  // namespace internal
}  // namespace martello
