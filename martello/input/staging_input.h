#pragma once
#include <martello/base/ref.h>
#include <martello/input/input_source.h>

namespace martello {

// Makes the input of the next `steps` steps ready while a step runs. A QueueInput keeps the datapoints at hand; tensors
// that the graph computes are kept in variables, which the first run fills. Trainers add it by themselves where it
// helps (apply_default_prefetch). A cursor in a checkpoint does not count what is only staged. Not for inference.
class StagingInput : public InputSource {
 public:
  explicit StagingInput(Ref<InputSource> input, int64_t steps = 1);

  void setup(const std::vector<TensorSpec>& signature) override;
  TensorList get_input_tensors() override;
  CallbackList get_callbacks() override;
  std::optional<int64_t> size() const override { return input_->size(); }
  void reset_state() override;
  bool feeds_each_tower() const override { return input_->feeds_each_tower(); }

 private:
  class Stager;
  Ref<InputSource> input_;
  int64_t steps_;
  std::shared_ptr<Stager> stager_;  // null: the input stages by itself
};

}  // namespace martello
