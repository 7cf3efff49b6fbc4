#pragma once
#include <martello/loop/callback.h>
#include <martello/loop/commit_point.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace martello {

// Puts whoever needs a scalar after those that provide it and changes nothing else. Needs that go in a circle are
// refused with the names.
CallbackList sorted_by_needs(CallbackList list);

// Time that one callback took in one hook.
struct HookTime {
  std::string callback;
  Phase phase = Phase::before_train;
  double seconds = 0;
  int64_t calls = 0;
};

// All callbacks of a run in their final order. Runs one phase at a time: StopTraining lets the others have their turn
// and is kept; any other error ends the phase at once, with the name of callback and hook in it.
class CallbackGroup {
 public:
  CallbackGroup(CallbackList list, TrainContext& context);
  ~CallbackGroup();
  CallbackGroup(const CallbackGroup&) = delete;
  CallbackGroup& operator=(const CallbackGroup&) = delete;

  // Each in a name scope of its own, outside all others.
  void setup_graph();
  // One phase; `should_break` is asked between two callbacks and, when true, leaves the rest out. The number of
  // callbacks that have had their turn.
  size_t run(Phase phase, const std::function<bool()>& should_break = {});
  void trigger_step();  // as run(), for every step: allocates nothing
  // All of them, whatever happens; afterwards no callback sees the context. The first error, if any.
  std::exception_ptr after_train();

  // One per callback, and one that ends the run when one of them has thrown StopTraining. Valid while the group lives.
  std::vector<RunHook*> hooks() const;
  // The reason of a StopTraining that was thrown in any phase so far.
  const std::optional<std::string>& stop_reason() const { return stop_reason_; }

  const CallbackList& list() const { return list_; }
  // Of all phases; before_run, after_run and trigger_step are sampled and scaled up.
  std::vector<HookTime> times() const;
  // Says which callbacks took long since the last report, if any did.
  void report_slow(double wall_seconds);

 private:
  struct Hook;
  struct StopHook;
  struct Times;
  void call(Callback& callback, Phase phase);
  void call_timed(size_t i, Phase phase);
  void note_stop(const Callback& callback, Phase phase, const StopTraining& stop);

  CallbackList list_;
  TrainContext& context_;
  std::vector<std::unique_ptr<Hook>> hooks_;
  std::unique_ptr<StopHook> stop_hook_;
  std::unique_ptr<Times> times_;
  std::optional<std::string> stop_reason_;
};

}  // namespace martello
