#pragma once
#include <martello/loop/callback_group.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

namespace martello {

// How long each callback takes in each hook. Hooks of every step are timed in one step of kPeriod only, not in the
// first ones, which are cold: reading the clock twice per hook would cost more than most hooks do.
class CallbackGroup::Timing {
 public:
  static constexpr int64_t kPeriod = 64;

  Timing(const CallbackList& callbacks, SlowLimits limits) : callbacks_(callbacks), limits_(limits) {
    spans_.resize(callbacks.size());
  }
  static bool is_of_step(Phase p) {
    return p == Phase::before_run || p == Phase::after_run || p == Phase::trigger_step;
  }
  bool is_timed(Phase p) const { return !is_of_step(p) || step_ % kPeriod == kPeriod - 1; }
  void end_step() { ++step_; }
  void add(size_t callback, Phase phase, double seconds) {
    Span& s = spans_[callback][static_cast<size_t>(phase)];
    s.seconds += seconds;
    s.calls += 1;
  }
  double seconds_since(std::chrono::steady_clock::time_point start) const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::vector<HookTime> times() const;
  // Of the phase that has just run.
  void report_phase(Phase phase);
  void report_steps(double wall_seconds);

 private:
  struct Span {
    double seconds = 0, reported_seconds = 0;
    int64_t calls = 0;
  };
  static constexpr size_t kNumPhases = static_cast<size_t>(Phase::after_train) + 1;

  const CallbackList& callbacks_;
  SlowLimits limits_;
  std::vector<std::array<Span, kNumPhases>> spans_;  // by callback
  int64_t step_ = 0;
};

}  // namespace martello
