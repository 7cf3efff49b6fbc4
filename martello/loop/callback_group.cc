#include <martello/loop/callback_group.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/scopes.h>
#include <martello/loop/internal/hook_timing.h>
#include <martello/loop/monitors.h>
#include <martello/loop/time_account.h>

#include <algorithm>

namespace martello {

// The turn of one callback: its StopTraining is kept, its error learns where it happened, its time is noted.
template <class F>
void CallbackGroup::turn(size_t i, Phase phase, F&& f) {
  try {
    if (!timing_->is_timed(phase)) return f();
    const auto start = std::chrono::steady_clock::now();
    f();
    timing_->add(i, phase, timing_->seconds_since(start));
  } catch (const StopTraining& stop) {
    note_stop(i, phase, stop);
  } catch (const CancelledTurn&) {
    throw;
  } catch (Error& e) {
    e.add_context(note_failure(i, phase));
    throw;
  } catch (...) {
    note_failure(i, phase);
    throw;
  }
}

struct CallbackGroup::Hook : RunHook {
  Hook(CallbackGroup& g, size_t i) : group(g), index(i), callback(*g.list_[i]) {}
  void before_run(RunContext& run) override {
    group.turn(index, Phase::before_run, [&] { callback.before_run(run); });
  }
  void after_run(RunContext& run) override {
    group.turn(index, Phase::after_run, [&] { callback.after_run(run); });
  }
  std::string hook_name() const override { return callback.name(); }

  CallbackGroup& group;
  size_t index;
  Callback& callback;
};

// Before all others.
struct CallbackGroup::FirstHook : RunHook {
  explicit FirstHook(CallbackGroup& g) : group(g) {}
  void before_run(RunContext&) override { group.switch_to(TimePart::callbacks); }
  void after_run(RunContext&) override { group.switch_to(TimePart::callbacks); }
  std::string hook_name() const override { return "TimeAccount"; }

  CallbackGroup& group;
};

// The last hook: when one of the others has thrown StopTraining, all have had their turn now.
struct CallbackGroup::StopHook : RunHook {
  explicit StopHook(CallbackGroup& g) : group(g) {}
  void before_run(RunContext&) override { stop(); }
  void after_run(RunContext&) override { stop(); }
  std::string hook_name() const override { return "StopTraining"; }
  void stop() const {
    group.switch_to(TimePart::compute);
    if (group.stop_reason_) [[unlikely]]
      throw StopTraining(*group.stop_reason_);
  }

  CallbackGroup& group;
};

namespace {

bool is_monitor(const Ref<Callback>& c) {
  return dynamic_cast<const Monitor*>(c.get()) || dynamic_cast<const Monitors*>(c.get());
}

}  // namespace

CallbackGroup::CallbackGroup(CallbackList list, TrainContext& context, SlowLimits limits)
    : list_(std::move(list)),
      context_(context),
      account_(context.time_account()),
      timing_(std::make_unique<Timing>(list_, limits)),
      first_hook_(std::make_unique<FirstHook>(*this)),
      stop_hook_(std::make_unique<StopHook>(*this)) {
  for (size_t i = 0; i < list_.size(); ++i)
    MARTELLO_CHECK(list_[i], "[callbacks] callback ", i, " is null: it was never assigned.");
  for (size_t i = 0; i < list_.size(); ++i) {
    hooks_.push_back(std::make_unique<Hook>(*this, i));
    list_[i]->attach(&context);
  }
  first_monitor_ = static_cast<size_t>(std::find_if(list_.begin(), list_.end(), is_monitor) - list_.begin());
}

CallbackGroup::~CallbackGroup() { detach(); }

void CallbackGroup::switch_to(TimePart part) const {
  if (account_) account_->switch_to(part);
}

void CallbackGroup::hold_time(TimePart part) const {
  if (!account_) return;
  account_->hold(false);
  account_->switch_to(part);
  account_->hold(true);
}

void CallbackGroup::detach() {
  for (const Ref<Callback>& c : list_) c->attach(nullptr);
}

std::vector<RunHook*> CallbackGroup::hooks() const {
  std::vector<RunHook*> list = {first_hook_.get()};
  for (const auto& hook : hooks_) list.push_back(hook.get());
  list.push_back(stop_hook_.get());
  return list;
}

const std::string& CallbackGroup::note_failure(size_t i, Phase phase) {
  failed_phase_ = phase;
  return failed_turn_ = str("in ", phase, " of callback '", list_[i]->name(), "'");
}

void CallbackGroup::note_stop(size_t i, Phase phase, const StopTraining& stop) {
  logger::info("[callbacks] '", list_[i]->name(), "' stops training in ", phase, ": ", stop.what());
  if (!stop_reason_) stop_reason_ = stop.what();
}

namespace {

void setup_in_scope(Callback& callback, const Graph& graph) try {
  const GraphScope scope(graph);
  const std::string name = callback.name_scope();
  if (name.empty()) return callback.setup_graph();
  const NameScope names(name);
  callback.setup_graph();
} catch (const StopTraining& stop) {
  throw FailedPrecondition(str("[callback '", callback.name(), "'] throws StopTraining (", stop.what(),
                               ") before training has begun. Do it in before_train."));
}

}  // namespace

void CallbackGroup::setup_graph() {
  for (size_t i = 0; i < list_.size(); ++i)
    turn(i, Phase::setup_graph, [&] { setup_in_scope(*list_[i], context_.graph()); });
  timing_->report_phase(Phase::setup_graph);
  const GraphScope scope(context_.graph());
  check_all_provided(list_);
}

size_t CallbackGroup::run(Phase phase, const std::function<bool()>& should_break, size_t first) {
  const auto hook = [phase]() -> void (Callback::*)() {
    switch (phase) {
      case Phase::before_train: return &Callback::before_train;
      case Phase::before_epoch: return &Callback::before_epoch;
      case Phase::trigger_step: return &Callback::trigger_step;
      case Phase::after_epoch: return &Callback::after_epoch;
      case Phase::trigger_epoch: return &Callback::trigger_epoch;
      default: return nullptr;
    }
  }();
  MARTELLO_ASSERT(hook, "phase ", phase, " is not run by run().");
  size_t done = first;
  try {
    for (; done < list_.size() && !(should_break && should_break()); ++done)
      turn(done, phase, [&] { ((*list_[done]).*hook)(); });
  } catch (const CancelledTurn& e) {
    if (!should_break || !should_break()) throw;
    logger::info(e.what());
  }
  timing_->report_phase(phase);
  return done;
}

size_t CallbackGroup::trigger_step(size_t first) {
  size_t done = first;
  hold_time(TimePart::callbacks);
  try {
    for (; done < list_.size(); ++done) {
      if (done == first_monitor_) hold_time(TimePart::monitors);
      turn(done, Phase::trigger_step, [&] { list_[done]->trigger_step(); });
    }
  } catch (const CancelledTurn& e) {
    logger::info(e.what());
  }
  if (account_) account_->hold(false);
  switch_to(TimePart::callbacks);
  timing_->end_step();
  return done;
}

std::exception_ptr CallbackGroup::after_train() {
  std::exception_ptr first;
  for (size_t i = 0; i < list_.size(); ++i) {
    try {
      turn(i, Phase::after_train, [&] { list_[i]->after_train(); });
    } catch (const std::exception& e) {
      logger::error(e.what());
      if (!first) first = std::current_exception();
    } catch (...) {
      logger::error("[callbacks] '", list_[i]->name(), "' threw something that is no std::exception in after_train.");
      if (!first) first = std::current_exception();
    }
  }
  timing_->report_phase(Phase::after_train);
  detach();
  return first;
}

std::vector<HookTime> CallbackGroup::times() const { return timing_->times(); }
void CallbackGroup::report_slow_steps(double wall_seconds) { timing_->report_steps(wall_seconds); }

}  // namespace martello
