#pragma once
#include <martello/loop/callback.h>
#include <martello/loop/commit_point.h>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace martello {

enum class TimePart : uint8_t;
class TimeAccount;

// Puts whoever needs a scalar after those that provide it and changes nothing else. Needs that go in a circle are
// refused with the names.
CallbackList sorted_by_needs(CallbackList list);
// Refuses a need for a scalar that nobody provides, with near misses.
void check_all_provided(const CallbackList& list);

// Time that one callback took in one hook.
struct HookTime {
  std::string callback;
  Phase phase = Phase::before_train;
  double seconds = 0;
  int64_t calls = 0;
};

// From when on a callback is called slow in the log.
struct SlowLimits {
  double phase_seconds = 2;   // of all callbacks together in one phase, and
  double member_seconds = 1;  // of the one named, which
  double member_share = 0.3;  // takes this share of the phase
  double step_seconds = 1;    // of an epoch, in one hook that runs with every step, and
  double step_share = 0.05;   // this share of the epoch
};

// All callbacks of a run in their final order. Runs one phase at a time: StopTraining lets the others have their turn
// and is kept; any other error ends the phase at once, with the name of callback and hook in it.
class CallbackGroup {
 public:
  CallbackGroup(CallbackList list, TrainContext& context, SlowLimits limits = {});
  ~CallbackGroup();
  CallbackGroup(const CallbackGroup&) = delete;
  CallbackGroup& operator=(const CallbackGroup&) = delete;

  // Each in a name scope of its own, outside all others.
  void setup_graph();
  // One phase, from callback `first` on; `should_break` is asked before each callback and, when true, leaves the rest
  // out, and so does one that throws CancelledTurn then. The number of those that have had their turn.
  size_t run(Phase phase, const std::function<bool()>& should_break = {}, size_t first = 0);
  // As run(), for every step: allocates nothing, and only CancelledTurn leaves the rest out.
  size_t trigger_step(size_t first = 0);
  // All of them, whatever happens; afterwards no callback sees the context. The first error, if any.
  std::exception_ptr after_train();

  // One per callback, one before them that keeps account of time, and one after them that does too and ends the run
  // when one of them has thrown StopTraining. Valid while the group lives.
  std::vector<RunHook*> hooks() const;
  // Of the first StopTraining that was thrown in any phase so far.
  const std::optional<std::string>& stop_reason() const { return stop_reason_; }

  // "in trigger_epoch of callback 'Watch'", of the last error; "" when no callback has thrown one.
  const std::string& failed_turn() const { return failed_turn_; }
  std::optional<Phase> failed_phase() const { return failed_phase_; }

  const CallbackList& list() const { return list_; }
  // Of all phases so far; before_run, after_run and trigger_step are sampled and scaled up.
  std::vector<HookTime> times() const;
  // Says which callbacks take long with every step, if any does. After an epoch, whose steps took `wall_seconds`.
  void report_slow_steps(double wall_seconds);

 private:
  class Timing;
  struct Hook;
  struct FirstHook;
  struct StopHook;
  template <class F>
  void turn(size_t i, Phase phase, F&& f);
  void note_stop(size_t i, Phase phase, const StopTraining& stop);
  const std::string& note_failure(size_t i, Phase phase);
  void detach();
  void switch_to(TimePart part) const;
  void hold_time(TimePart part) const;

  CallbackList list_;
  TrainContext& context_;
  TimeAccount* account_;
  size_t first_monitor_ = 0;  // the callbacks from here on are monitors
  std::unique_ptr<Timing> timing_;
  std::vector<std::unique_ptr<Hook>> hooks_;
  std::unique_ptr<FirstHook> first_hook_;
  std::unique_ptr<StopHook> stop_hook_;
  std::optional<std::string> stop_reason_;
  std::string failed_turn_;
  std::optional<Phase> failed_phase_;
};

}  // namespace martello
