#include <martello/testing/recording_callback.h>

#include <martello/base/strings.h>

namespace martello::testing {

std::string counters(const TrainLoop& loop) {
  return str(" e", loop.epoch_num, " s", loop.local_step, " g", loop.global_step);
}

RecordingCallback RecordingCallback::at(const std::string& hook, int nth, std::function<void()> act) && {
  when_ = hook;
  nth_ = nth;
  act_ = std::move(act);
  return std::move(*this);
}

void RecordingCallback::act(const std::string& hook) {
  if (++calls_[hook] == nth_ && hook == when_) act_();
}

void RecordingCallback::setup_graph() {
  events_->push_back(name_ + ".setup_graph");
  act("setup_graph");
}

void RecordingCallback::trigger_epoch() {
  record("trigger_epoch");
  trigger();
}

void RecordingCallback::record(const std::string& hook) {
  events_->push_back(str(name_, ".", hook, counters(context().loop())));
  act(hook);
}

}  // namespace martello::testing
