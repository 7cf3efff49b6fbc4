#include <martello/callbacks/trackers.h>

#include <martello/base/error.h>
#include <martello/base/internal/clock.h>
#include <martello/base/log.h>
#include <martello/base/meminfo.h>
#include <martello/base/state.h>
#include <martello/loop/human_time.h>
#include <martello/loop/monitors.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <optional>

namespace martello {

using internal::now_seconds;

ThroughputTracker::ThroughputTracker(int64_t samples_per_step) : samples_per_step_(samples_per_step) {
  MARTELLO_CHECK(samples_per_step >= 0, "[ThroughputTracker] a step has ", samples_per_step,
                 " samples; give a number above 0, or none to count steps.");
  set_chief_only(false);
}

std::string ThroughputTracker::scalar() const {
  return samples_per_step_ == 0 ? "Throughput (steps/sec)" : "Throughput (samples/sec)";
}

void ThroughputTracker::setup_graph() { monitors().declare(scalar(), ScalarClass::volatile_); }

double ThroughputTracker::seconds() const { return seconds_ + (started_ < 0 ? 0 : now_seconds() - started_); }

void ThroughputTracker::start_over() {
  first_step_ = global_step();
  seconds_ = 0;
  if (started_ >= 0) started_ = now_seconds();
}

void ThroughputTracker::before_epoch() { started_ = now_seconds(); }

void ThroughputTracker::after_epoch() {
  seconds_ = seconds();
  started_ = -1;
}

void ThroughputTracker::trigger() {
  const auto steps = static_cast<double>(global_step() - first_step_);
  const double time = seconds();
  start_over();
  if (time <= 0) return;
  const auto samples = static_cast<double>(std::max<int64_t>(samples_per_step_, 1));
  monitors().put_scalar(scalar(), steps * samples / time, ScalarClass::volatile_);
}

EstimatedTimeLeft::EstimatedTimeLeft(TimeLeftOptions options) : options_(options) {
  MARTELLO_CHECK(options.last_k_epochs > 0, "[EstimatedTimeLeft] .last_k_epochs is ", options.last_k_epochs,
                 "; it must be at least 1.");
}

void EstimatedTimeLeft::before_train() {
  last_time_ = now_seconds();
  last_epoch_ = epoch_num();
}

// Who triggers it seldom measures several epochs at once.
void EstimatedTimeLeft::trigger() {
  const int64_t epochs = epoch_num() - last_epoch_;
  if (epochs <= 0) return;
  const double time = now_seconds();
  seconds_.push_back((time - last_time_) / static_cast<double>(epochs));
  if (static_cast<int64_t>(seconds_.size()) > options_.last_k_epochs) seconds_.erase(seconds_.begin());
  last_time_ = time;
  last_epoch_ = epoch_num();
  const double left = static_cast<double>(context().loop().max_epoch - epoch_num()) * epoch_seconds();
  if (left > 0) logger::info("Estimated Time Left: ", human_time(left));
}

double EstimatedTimeLeft::epoch_seconds() const {
  if (!options_.median)
    return std::accumulate(seconds_.begin(), seconds_.end(), 0.0) / static_cast<double>(seconds_.size());
  std::vector<double> sorted = seconds_;
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

void EstimatedTimeLeft::state(State& s) { s("seconds", seconds_); }

namespace {

double free_gigabytes() {
  const std::optional<int64_t> bytes = meminfo_bytes("MemAvailable");
  if (bytes) return static_cast<double>(*bytes) / (1 << 30);
  throw FailedPrecondition("[HostMemoryTracker] /proc/meminfo does not tell MemAvailable. It needs Linux 3.14.");
}

void log_free_memory(const char* when) {
  char text[32];
  snprintf(text, sizeof text, "%.2f GB.", free_gigabytes());
  logger::info("[HostMemoryTracker] Free RAM in ", when, " is ", text);
}

}  // namespace

void HostMemoryTracker::setup_graph() {
  monitors().declare("HostFreeMemory (GB)", ScalarClass::volatile_);
  log_free_memory("setup_graph()");
}
void HostMemoryTracker::before_train() { log_free_memory("before_train()"); }
void HostMemoryTracker::trigger() {
  monitors().put_scalar("HostFreeMemory (GB)", free_gigabytes(), ScalarClass::volatile_);
}

}  // namespace martello
