#pragma once
#include <martello/data/dataflow.h>
#include <martello/input/input_source.h>

namespace martello {

struct FeedInputOptions {
  bool infinite = true;  // one data pass after the other; false: the end of the first one ends training
  uint64_t seed = 0;     // of the data passes
};

// Feeds one datapoint to every hooked run, on the training thread: simple, and only as fast as the flow is on that
// thread. All towers would share its placeholders, so it serves one.
class FeedInput : public InputSource {
 public:
  explicit FeedInput(DataFlowRef flow, FeedInputOptions options = {});

  void setup(const std::vector<TensorSpec>& signature) override;
  TensorList get_input_tensors() override;
  CallbackList get_callbacks() override;
  std::optional<int64_t> size() const override;
  void reset_state() override;
  bool feeds_each_tower() const override { return false; }

 private:
  class Feeder;
  std::shared_ptr<Feeder> feeder_;
};

}  // namespace martello
