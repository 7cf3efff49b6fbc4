#pragma once
#include <martello/callbacks/hyper_param.h>
#include <martello/loop/callback.h>

#include <optional>
#include <string>
#include <vector>

namespace martello {

struct LearningRateFinderOptions {
  double from = 1e-7, to = 10;  // the rates that are tried, in equal factors
  int64_t steps = 100;
  double smoothing = 0.9;  // of the loss, which jumps from batch to batch
  double diverged_at = 4;  // times the least smoothed loss: larger rates are not tried
};
// Tries learning rates from small to large, one per step, and then ends training: a rate of the size at which the loss
// falls fastest is a good one to train with. The log has it; `lr_finder.csv` and `lr_finder.png` in the logger's
// directory, if there is one, hold the curve. Run it alone: the weights are spoilt afterwards.
//   trainer.train({.callbacks = {LearningRateFinder("learning_rate", "cost")}, .steps_per_epoch = 100, .max_epoch = 1})
class LearningRateFinder : public Callback {
 public:
  LearningRateFinder(HyperParamRef learning_rate, std::string loss, LearningRateFinderOptions options = {},
                     SourceLine line = SourceLine::current());
  void setup_graph() override;
  void before_train() override;
  void before_run(RunContext& run) override;
  void after_run(RunContext& run) override;
  void trigger_step() override;
  void after_train() override;
  void state(State& s) override;
  std::vector<std::string> provides() const override { return {"lr_finder/suggestion"}; }
  std::string name() const override { return "LearningRateFinder"; }
  std::string description() const override;

  // Once training is over; none when the loss never fell.
  std::optional<double> suggestion() const;

 private:
  double rate(size_t step) const;
  bool has_diverged() const;
  std::vector<double> smoothed() const;
  void write_curve() const;

  Ref<HyperParam> rate_;
  std::string loss_name_;
  LearningRateFinderOptions options_;
  SourceLine line_;
  Tensor loss_;
  std::vector<double> losses_;      // of rate(0), rate(1) ...
  double average_ = 0, least_ = 0;  // smoothed
};

}  // namespace martello
