#pragma once
#include <martello/base/ref.h>
#include <martello/loop/stop_training.h>
#include <martello/loop/train_context.h>
#include <martello/runtime/hooked_session.h>

#include <cstdint>
#include <string>
#include <vector>

namespace martello {

class Callback;
class State;
using CallbackList = std::vector<Ref<Callback>>;

// Everything that happens besides the steps themselves. Hooks run in the order of the list of callbacks, on the
// training thread.
class Callback : public RunHook {
 public:
  Callback() = default;
  Callback(Callback&&) = default;
  Callback& operator=(Callback&&) = default;

  virtual void setup_graph() {}   // adds nodes; name scope `name_scope()`, the graph is not final yet
  virtual void before_train() {}  // the session is initialized, the graph final
  virtual void before_epoch() {}  // around the steps: both must be fast
  void before_run(RunContext&) override {}
  void after_run(RunContext&) override {}
  virtual void trigger_step() {}
  virtual void after_epoch() {}
  virtual void trigger_epoch() { trigger(); }
  virtual void trigger() {}  // what wrappers such as PeriodicTrigger schedule
  virtual void after_train() {}
  // Saves and restores what must survive a resume: `void state(State& s) override { s("best", best_); }`.
  virtual void state(State&) {}

  virtual std::string name() const;        // the class's, unless overridden
  virtual std::string name_scope() const;  // of nodes made in setup_graph: the name without underscores; "": none
  std::string hook_name() const final { return name(); }
  // What a resumed run compares, and refuses when it differs: type and options that decide what training does. Empty
  // for those that only look on (savers, monitors, progress).
  virtual std::string description() const { return name(); }

  // Scalars that this callback reads from the monitors, and those that it puts: whoever needs one runs after whoever
  // provides it, wherever they stand in the list; a need that nobody provides is an error. Asked with the graph
  // current, before setup_graph and after it.
  virtual std::vector<std::string> needs() const { return {}; }
  virtual std::vector<std::string> provides() const { return {}; }
  // Those that this one hands its hooks to; they see its context. A wrapper names what it wraps.
  virtual CallbackList inner_callbacks() const { return {}; }

  // Runs on the chief only, which is every process of a run that is not distributed.
  bool chief_only() const { return chief_only_; }
  void set_chief_only(bool v) { chief_only_ = v; }

 protected:
  // From setup_graph to after_train; elsewhere an error that names the callback.
  TrainContext& context() const;
  bool has_context() const { return context_ != nullptr; }
  int64_t epoch_num() const { return context().loop().epoch_num; }
  int64_t global_step() const { return context().loop().global_step; }
  int64_t local_step() const { return context().loop().local_step; }
  Session& sess() const { return context().sess(); }
  Monitors& monitors() const { return context().monitors(); }

 private:
  friend class CallbackGroup;
  void attach(TrainContext* context);

  TrainContext* context_ = nullptr;
  bool chief_only_ = true;
};

}  // namespace martello
