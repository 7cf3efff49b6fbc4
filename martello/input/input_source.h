#pragma once
#include <martello/loop/callback.h>
#include <martello/tensor/tensor_spec.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace martello {

// The data of a source that was declared finite has ended: training stops, and an inference is complete.
class EndOfData : public StopTraining {
 public:
  using StopTraining::StopTraining;
};

// Where the tensors of a training come from. A trainer calls setup() once and get_input_tensors() once per tower, with
// its graph current, then registers the callbacks.
class InputSource {
 public:
  InputSource() = default;
  InputSource(InputSource&&) = default;
  InputSource& operator=(InputSource&&) = default;
  virtual ~InputSource() = default;

  virtual void setup(const std::vector<TensorSpec>&) {}
  // New tensors for each call, so that every tower takes its own datapoint; inside the tower's context.
  virtual TensorList get_input_tensors() = 0;
  // What feeds, fills and resets it. They run on every process and, of all hooks, need only setup_graph, before_train,
  // before_run, after_run and after_train; in others they may only report.
  virtual CallbackList get_callbacks() { return {}; }
  // Datapoints of one data pass, as far as known.
  virtual std::optional<int64_t> size() const { return std::nullopt; }
  // The next run takes the first datapoint again.
  virtual void reset_state() {}
  // False when all calls of get_input_tensors() give the same placeholders: such a source feeds one tower only.
  virtual bool feeds_each_tower() const { return true; }
  // For StagingInput, before get_input_tensors(): keeps the datapoints of so many steps at hand besides the one in use.
  // False when the source cannot do that by itself.
  virtual bool stage(int64_t /*steps*/) { return false; }
};

}  // namespace martello
