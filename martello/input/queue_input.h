#pragma once
#include <martello/data/dataflow.h>
#include <martello/input/input_source.h>

namespace martello {

namespace internal {
class QueueFeeder;
}

struct QueueInputOptions {
  int64_t capacity = 50;             // datapoints read ahead at most, and
  int64_t buffer_bytes = 256 << 20;  // their bytes; one is always read ahead
  bool infinite = true;              // one data pass after the other; false: the end of the first one ends training
  uint64_t seed = 0;                 // of the data passes
};

// Reads a flow on a thread of its own, ahead of training. With every hooked run tower i of N takes datapoint
// step * N + i. An error of the flow fails the step that would have taken the datapoint, and names the stage. How full
// the queue was is the scalar `QueueInput/queue_size`: near 0, training waits for data.
class QueueInput : public InputSource {
 public:
  explicit QueueInput(DataFlowRef flow, QueueInputOptions options = {});

  void setup(const std::vector<TensorSpec>& signature) override;
  TensorList get_input_tensors() override;
  CallbackList get_callbacks() override;
  std::optional<int64_t> size() const override { return size_; }
  void reset_state() override;
  bool stage(int64_t steps) override;

 protected:
  QueueInput(std::string name, std::string who, DataFlowRef endless, std::optional<int64_t> size,
             QueueInputOptions options);

 private:
  std::shared_ptr<internal::QueueFeeder> feeder_;
  std::optional<int64_t> size_;
};

// A QueueInput for flows of single samples: batches of `batch_size`, across the borders of data passes. All dimensions
// of the signature but the first must be known.
class BatchQueueInput : public QueueInput {
 public:
  BatchQueueInput(DataFlowRef flow, int64_t batch_size, QueueInputOptions options = {.capacity = 3000});
  void setup(const std::vector<TensorSpec>& signature) override;

 private:
  int64_t batch_size_;
};

}  // namespace martello
