#pragma once
#include <martello/callbacks/inference/inferencer.h>
#include <martello/runtime/hooked_session.h>

#include <string>

namespace martello::internal {

// How many samples a datapoint has.
class SampleHook : public RunHook {
 public:
  // `sizes` is the shape of the first input; null: a datapoint is one sample.
  explicit SampleHook(Tensor sizes) : sizes_(sizes) {}
  void before_run(RunContext& run) override;
  void after_run(RunContext& run) override;
  std::string hook_name() const override { return "InferenceRunner"; }
  int64_t samples() const { return samples_; }
  int64_t total() const { return total_; }
  void reset() { total_ = 0; }

 private:
  Tensor sizes_;
  int64_t samples_ = 1;
  int64_t total_ = 0;
};

// Hands the values of a run to an inferencer.
class InferencerHook : public RunHook {
 public:
  InferencerHook(Inferencer& inferencer, TensorList tensors, const SampleHook& samples)
      : inferencer_(inferencer), tensors_(std::move(tensors)), samples_(samples) {}
  void before_run(RunContext& run) override;
  void after_run(RunContext& run) override;
  std::string hook_name() const override { return inferencer_.name(); }
  void set_silent(bool v) { is_silent_ = v; }  // fetches, and keeps the values from the inferencer

 private:
  Inferencer& inferencer_;
  TensorList tensors_;
  const SampleHook& samples_;
  HostTensors values_;
  bool is_silent_ = false;
};

// The input's callback: when it stops training, the data is at its end.
class InputHook : public RunHook {
 public:
  explicit InputHook(Callback& callback) : callback_(callback) {}
  void before_run(RunContext& run) override;
  void after_run(RunContext& run) override { callback_.after_run(run); }
  std::string hook_name() const override { return callback_.name(); }
  bool has_ended() const { return has_ended_; }

 private:
  Callback& callback_;
  bool has_ended_ = false;
};

}  // namespace martello::internal
