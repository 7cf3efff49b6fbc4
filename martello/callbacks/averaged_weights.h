#pragma once
#include <martello/callbacks/wrappers.h>

#include <memory>
#include <string>

namespace martello {

struct AveragedWeightsOptions {
  double decay = 0.999;
  bool warm_up = true;           // early averages follow faster: min(decay, (1 + n) / (10 + n)) at global_step n
  std::string variables = ".*";  // regular expression of whole names, among the trainable variables
};
// Keeps exponential moving averages of the weights in variables `<weight>/ExponentialMovingAverage`, which take in what
// every hooked run wrote. Checkpoints hold both.
//   auto averages = make<AveragedWeights>();
//   .callbacks = {averages, WithAveragedWeights(averages, InferenceRunner(test, {ClassificationError()}))}
class AveragedWeights : public Callback {
 public:
  explicit AveragedWeights(AveragedWeightsOptions options = {});
  void setup_graph() override;
  void before_train() override;
  void after_run(RunContext& run) override;
  std::string name() const override { return "AveragedWeights"; }
  std::string description() const override;

 private:
  friend class WithAveragedWeights;
  void swap();

  AveragedWeightsOptions options_;
  Operation start_op_, update_op_, swap_op_;
  PreparedRun update_;
};

// While the callback acts on a trigger, the averages stand in the variables; afterwards, also after an error, the
// weights are back. What savers ask for is written after that, so theirs are the weights.
class WithAveragedWeights : public ProxyCallback {
 public:
  WithAveragedWeights(std::shared_ptr<AveragedWeights> averages, Ref<Callback> callback);
  void setup_graph() override;
  void trigger_epoch() override;
  void trigger() override;

 private:
  void with_averages(void (Callback::*hook)());

  std::shared_ptr<AveragedWeights> averages_;
};

}  // namespace martello
