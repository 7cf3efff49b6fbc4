#pragma once
#include <martello/loop/callback.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace martello::testing {

using Events = std::vector<std::string>;

// Writes every hook down with the counters that it saw, "A.before_run e1 s0 g0" (epoch_num, local_step, global_step),
// and may do something in one of them: tests of trainers and wrappers compare the whole list.
//   auto events = make<Events>();
//   trainer.train({.callbacks = {RecordingCallback("A", events)}, ...});
class RecordingCallback : public Callback {
 public:
  RecordingCallback(std::string name, std::shared_ptr<Events> events)
      : name_(std::move(name)), events_(std::move(events)) {}
  // Calls `act` in the nth call of a hook, counted from 1, when it is written down.
  RecordingCallback at(const std::string& hook, int nth, std::function<void()> act) &&;

  std::string name() const override { return name_; }
  void setup_graph() override;
  void before_train() override { record("before_train"); }
  void before_epoch() override { record("before_epoch"); }
  void before_run(RunContext&) override { record("before_run"); }
  void after_run(RunContext&) override { record("after_run"); }
  void trigger_step() override { record("trigger_step"); }
  void after_epoch() override { record("after_epoch"); }
  void trigger_epoch() override;
  void trigger() override { record("trigger"); }
  void after_train() override { record("after_train"); }

 private:
  void record(const std::string& hook);
  void act(const std::string& hook);

  std::string name_;
  std::shared_ptr<Events> events_;
  std::map<std::string, int> calls_;
  std::string when_;
  int nth_ = 0;
  std::function<void()> act_;
};

// " e1 s0 g0"
std::string counters(const TrainLoop& loop);

}  // namespace martello::testing
