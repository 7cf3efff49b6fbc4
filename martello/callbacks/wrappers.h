#pragma once
#include <martello/loop/callback.h>

#include <functional>

namespace martello {

// Hands every hook on to another callback. The base of wrappers, which change some of them.
class ProxyCallback : public Callback {
 public:
  explicit ProxyCallback(Ref<Callback> inner);

  void setup_graph() override { inner_->setup_graph(); }
  void before_train() override { inner_->before_train(); }
  void before_epoch() override { inner_->before_epoch(); }
  void before_run(RunContext& run) override { inner_->before_run(run); }
  void after_run(RunContext& run) override { inner_->after_run(run); }
  void trigger_step() override { inner_->trigger_step(); }
  void after_epoch() override { inner_->after_epoch(); }
  void trigger_epoch() override { inner_->trigger_epoch(); }
  void trigger() override { inner_->trigger(); }
  void after_train() override { inner_->after_train(); }
  void state(State& s) override { inner_->state(s); }

  std::string name() const override;  // "PeriodicTrigger(ModelSaver)"
  std::string name_scope() const override { return inner_->name_scope(); }
  std::string description() const override { return inner_->description().empty() ? "" : describe(); }
  std::vector<std::string> needs() const override { return inner_->needs(); }
  std::vector<std::string> provides() const override { return inner_->provides(); }
  CallbackList inner_callbacks() const override { return {inner_}; }

 protected:
  Callback& inner() const { return *inner_; }
  // Of a wrapped one that has a description.
  virtual std::string describe() const;  // "PeriodicTrigger(RunOp)"

 private:
  Ref<Callback> inner_;
};

struct Every {
  int64_t steps = 0;   // when global_step is a multiple; 0: not by steps
  int64_t epochs = 0;  // when epoch_num is a multiple; 0: not by epochs
  bool before_train = false;
};

// Calls trigger() of a callback in these periods; its trigger_epoch() is never called, all other hooks are. When a step
// and an epoch fall together it is triggered twice.
class PeriodicTrigger : public ProxyCallback {
 public:
  PeriodicTrigger(Ref<Callback> callback, Every every, SourceLine line = SourceLine::current());
  void before_train() override;
  void trigger_step() override;
  void trigger_epoch() override;

 protected:
  std::string describe() const override;

 private:
  Every every_;
};

// Hooks around epochs, runs and steps happen only while `predicate` is true; after_run follows its before_run. Setup,
// before_train, after_train and a direct trigger() always do.
class EnableCallbackIf : public ProxyCallback {
 public:
  using Predicate = std::function<bool(const TrainContext&)>;
  EnableCallbackIf(Ref<Callback> callback, Predicate predicate, SourceLine line = SourceLine::current());
  void before_epoch() override;
  void before_run(RunContext& run) override;
  void after_run(RunContext& run) override;
  void trigger_step() override;
  void after_epoch() override;
  void trigger_epoch() override;

 private:
  bool is_enabled() const { return predicate_(context()); }
  Predicate predicate_;
  bool is_run_enabled_ = false;
};

// Makes a callback less frequent: its hooks happen when global_step or epoch_num is a multiple, and with a period of
// epochs also in the last step of the last epoch. `before_train` has no meaning here.
class PeriodicCallback : public EnableCallbackIf {
 public:
  PeriodicCallback(Ref<Callback> callback, Every every, SourceLine line = SourceLine::current());

 protected:
  std::string describe() const override;

 private:
  Every every_;
};

struct CallbackHooks {
  std::function<void(TrainContext&)> setup_graph = {}, before_train = {}, trigger = {}, after_train = {};
  std::vector<std::string> needs = {}, provides = {};  // scalars that `trigger` reads and puts
};
// A callback out of functions.
class CallbackFactory : public Callback {
 public:
  explicit CallbackFactory(CallbackHooks hooks) : hooks_(std::move(hooks)) {}
  void setup_graph() override { call(hooks_.setup_graph); }
  void before_train() override { call(hooks_.before_train); }
  void trigger() override { call(hooks_.trigger); }
  void after_train() override { call(hooks_.after_train); }
  std::vector<std::string> needs() const override { return hooks_.needs; }
  std::vector<std::string> provides() const override { return hooks_.provides; }
  std::string description() const override;

 private:
  void call(const std::function<void(TrainContext&)>& f) {
    if (f) f(context());
  }
  CallbackHooks hooks_;
};

// A hook of a session among the callbacks.
class HookToCallback : public Callback {
 public:
  explicit HookToCallback(Ref<RunHook> hook);
  void before_run(RunContext& run) override { hook_->before_run(run); }
  void after_run(RunContext& run) override { hook_->after_run(run); }
  std::string name() const override { return hook_->hook_name(); }
  std::string name_scope() const override { return ""; }

 private:
  Ref<RunHook> hook_;
};

// The same callback, no longer for the chief only.
Ref<Callback> on_all_ranks(Ref<Callback> callback);

}  // namespace martello
