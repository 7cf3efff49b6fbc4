#pragma once
#include <martello/data/stage_times.h>

#include <cstdint>
#include <memory>

namespace martello::data::internal {

// Times what one thread does in the stages of a flow: the innermost open StageScope gets the time. Reading the clock
// costs more than a trivial stage does, so most datapoints pass untimed.
class StageClock {
 public:
  explicit StageClock(std::shared_ptr<StageTimes> times);

  // Calls f, which makes one datapoint. Not inside another call of run() on the same thread.
  template <class F>
  decltype(auto) run(F&& f) {
    if (!times_ || --left_ > 0) return f();
    const Running running(*this);
    return f();
  }

 private:
  friend class StageScope;
  struct Running {
    explicit Running(StageClock& c) : clock(c) { clock.begin(); }
    ~Running() { clock.end(); }
    StageClock& clock;
  };
  struct Stage {
    std::string name;
    double seconds = 0;
    int threads = 1;
  };

  void begin();
  void end();
  void enter(const std::string& stage, int threads);
  void leave();
  void add_until_now();
  size_t index_of(const std::string& stage, int threads);

  std::shared_ptr<StageTimes> times_;
  int64_t period_ = 1, left_ = 1;  // datapoints for which the next timed one stands, and until then
  std::vector<Stage> stages_;      // the first one is none of them
  std::vector<size_t> open_;
  double start_ = 0, last_ = 0;
};

// Of the datapoint that this thread makes now; null: it is not timed.
inline constinit thread_local StageClock* current_stage_clock = nullptr;

// While one is open, time is that of the stage; an empty name stands for waiting.
class StageScope {
 public:
  explicit StageScope(const std::string& stage, int threads = 1) : clock_(current_stage_clock) {
    if (clock_ != nullptr) [[unlikely]]
      clock_->enter(stage, threads);
  }
  ~StageScope() {
    if (clock_ != nullptr) [[unlikely]]
      clock_->leave();
  }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

 private:
  StageClock* clock_;
};
inline const std::string kWaiting;

}  // namespace martello::data::internal
