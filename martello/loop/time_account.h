#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace martello {

// What the time of a step goes into.
enum class TimePart : uint8_t {
  input,      // waiting for data
  compute,    // the run, and whatever else run_step() does
  callbacks,  // their hooks around the run and after the step
  monitors
};
std::string_view to_string(TimePart part);
inline constexpr size_t kNumTimeParts = 4;

// An input that was waited for.
class WaitedInput {
 public:
  virtual ~WaitedInput() = default;
  // The stage that limits it since the last call, "" when that is not known.
  virtual std::string slowest_stage() = 0;
};

// Where the time of an epoch's steps went.
struct TimeReport {
  std::array<double, kNumTimeParts> seconds = {};  // by part; together they are wall_seconds
  double wall_seconds = 0;
  WaitedInput* input = nullptr;

  double share(TimePart part) const;
  TimePart largest() const;
  // "input-bound 61 %: slowest stage map 'decode' (train.cc:12); compute 36 %, callbacks 2 %, monitors 1 %"
  std::string verdict() const;
};

// Splits the time of steps into parts, on the training thread and without allocating. Waits and monitors are always
// measured. The rest is too where steps are long; among short ones, in which reading the clock would be felt, one in 64
// is measured and tells the shares of its block.
class TimeAccount {
 public:
  // By the trainer: around the steps of an epoch, and at the beginning of each.
  void begin_epoch();
  void begin_step();
  TimeReport end_epoch();
  bool is_running() const { return is_running_; }

  // From now on time is of `part`, until the next call or step.
  void switch_to(TimePart part) {
    if (is_timed_ && !is_held_) add_until_now(part);
  }
  // While it is held nobody switches, and waits for input do not count: what a callback runs, a validation say, is time
  // of the callback.
  void hold(bool on) { is_held_ = on; }

  // Time that is of `part` while it lives, wherever it is opened; the outermost one counts. A null account is legal.
  class Scope {
   public:
    Scope(TimeAccount* account, TimePart part, WaitedInput* input = nullptr);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    TimeAccount* account_;
    TimePart part_;
    double start_ = 0;
  };

 private:
  using Seconds = std::array<double, kNumTimeParts>;
  void add_until_now(TimePart next);
  void open_block(double now, bool is_exact);
  void close_block(double now);

  bool is_running_ = false, is_timed_ = false, is_exact_ = true, is_held_ = false;
  int depth_ = 0;  // of scopes
  int64_t left_ = 0;
  double epoch_start_ = 0, block_start_ = 0, last_ = 0;
  TimePart part_ = TimePart::callbacks;
  Seconds switched_ = {}, scoped_ = {};  // of this block
  Seconds total_ = {};
  WaitedInput* input_ = nullptr;
};

}  // namespace martello
