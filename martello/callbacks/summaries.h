#pragma once
#include <martello/base/owned.h>
#include <martello/graph/collections.h>
#include <martello/loop/callback.h>

#include <string>
#include <vector>

// When summaries of the graph are evaluated. Where they go is the monitors' business.
namespace martello {

struct MovingAverageSummaryOptions {
  CollectionKey<Operation> collection = kMovingSummaryOps;
  std::string train_op = {};  // runs the averages with this operation; default: with every hooked run
};
// Keeps the averages of add_moving_summary() up to date. Shows nothing: that is MergeAllSummaries'.
class MovingAverageSummary : public Callback {
 public:
  explicit MovingAverageSummary(MovingAverageSummaryOptions options = {});
  void setup_graph() override;
  void before_run(RunContext& run) override;
  std::string name() const override { return "MovingAverageSummary"; }
  std::string description() const override;

 private:
  MovingAverageSummaryOptions options_;
  Operation op_;
};

struct MergeAllSummariesOptions {
  int64_t period = 0;      // besides the last step of an epoch, in every so many steps of it
  bool run_alone = false;  // in a run of their own, which takes data of its own where a summary depends on the input
  CollectionKey<Tensor> collection = kSummaries;
};
// Puts the summaries of the graph to the monitors: those of the last step of each epoch, fetched along with it.
class MergeAllSummaries : public Callback {
 public:
  explicit MergeAllSummaries(MergeAllSummariesOptions options = {});
  MergeAllSummaries(MergeAllSummaries&&) noexcept;
  ~MergeAllSummaries() override;
  void setup_graph() override;
  void before_run(RunContext& run) override;
  void after_run(RunContext& run) override;
  void trigger_step() override;
  void trigger() override;
  std::vector<std::string> provides() const override;  // the tags of the current graph's scalars
  std::string name() const override { return "MergeAllSummaries"; }
  std::string description() const override;

 private:
  struct Impl;
  bool is_period() const;
  Owned<Impl> impl_;
};

// Means over the last `window` hooked runs, put as `name/SMA` in every window's last step.
class SimpleMovingAverage : public Callback {
 public:
  SimpleMovingAverage(std::vector<std::string> tensors, int64_t window);
  void setup_graph() override;
  void before_run(RunContext& run) override;
  void after_run(RunContext& run) override;
  void state(State& s) override;
  std::vector<std::string> provides() const override;
  std::string name() const override { return "SimpleMovingAverage"; }
  std::string description() const override;

 private:
  std::vector<std::string> names_;
  int64_t window_, taken_ = 0;
  std::vector<Tensor> tensors_;
  std::vector<double> values_;  // window_ values per tensor, round and round
};

}  // namespace martello
