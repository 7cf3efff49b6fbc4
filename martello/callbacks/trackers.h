#pragma once
#include <martello/loop/callback.h>

#include <cstdint>
#include <string>
#include <vector>

// How fast and how full the machine is. Their scalars are volatile: the same run, done again, gives others.
namespace martello {

// Puts `Throughput (steps/sec)`, or `Throughput (samples/sec)` when it is told how many samples a step has: hooked runs
// since the last trigger over the time between before_epoch and after_epoch.
class ThroughputTracker : public Callback {
 public:
  explicit ThroughputTracker(int64_t samples_per_step = 0);
  void setup_graph() override;
  void before_train() override { start_over(); }
  void before_epoch() override;
  void after_epoch() override;
  void trigger() override;
  std::vector<std::string> provides() const override { return {scalar()}; }
  std::string name() const override { return "ThroughputTracker"; }
  std::string description() const override { return ""; }

 private:
  std::string scalar() const;
  double seconds() const;
  void start_over();

  int64_t samples_per_step_;
  int64_t first_step_ = 0;
  double seconds_ = 0;   // of epochs that are over
  double started_ = -1;  // of the epoch in progress, seconds; below 0: between epochs
};

struct TimeLeftOptions {
  int64_t last_k_epochs = 5;
  bool median = true;  // of the epochs' times; else their mean
};
// Logs how long the epochs that are left will take, by the wall time of the last ones, callbacks included.
class EstimatedTimeLeft : public Callback {
 public:
  explicit EstimatedTimeLeft(TimeLeftOptions options = {});
  void before_train() override;
  void trigger() override;
  void state(State& s) override;
  std::string name() const override { return "EstimatedTimeLeft"; }
  std::string description() const override { return ""; }

 private:
  double epoch_seconds() const;

  TimeLeftOptions options_;
  std::vector<double> seconds_;  // per epoch
  double last_time_ = 0;
  int64_t last_epoch_ = 0;
};

// Puts `HostFreeMemory (GB)`: what the kernel would give to programs without swapping. Also logged before training.
class HostMemoryTracker : public Callback {
 public:
  HostMemoryTracker() { set_chief_only(false); }
  void setup_graph() override;
  void before_train() override;
  void trigger() override;
  std::vector<std::string> provides() const override { return {"HostFreeMemory (GB)"}; }
  std::string name() const override { return "HostMemoryTracker"; }
  std::string description() const override { return ""; }
};

}  // namespace martello
