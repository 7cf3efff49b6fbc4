#pragma once
#include <martello/base/owned.h>
#include <martello/base/ref.h>
#include <martello/base/source_line.h>
#include <martello/tower/predictor_base.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace martello {

// The outputs of a task that will be done, or has been. A small value; any number of threads may wait for it.
class PendingPrediction {
 public:
  // Waits. Throws what the prediction threw.
  const HostTensors& get() const;
  bool is_done() const;
  // Waits at most so long; whether it is done.
  bool wait(double seconds) const;

 private:
  friend class MultiThreadAsyncPredictor;
  struct State;
  explicit PendingPrediction(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

struct AsyncPredictorOptions {
  int64_t batch_size = 5;  // tasks that one call of a predictor takes at most
  int64_t capacity = 100;  // tasks that may wait, for each predictor; put_task() waits when there are more
  // How long a batch that is not full waits for further tasks. 0: where callers come back with their next tasks, until
  // as many wait as were just served or left, for at most a tenth of the time that this took.
  double linger_seconds = 0;
};

// Takes single samples from any number of threads and predicts them in batches, on one thread per predictor. A task has
// no batch dimension: samples are stacked along a new first axis, and row i of each output is the result of sample i.
// Only tasks of the same shapes share a batch; batches are of batch_size, or 1, 2, 4 ... tasks, so that a model needs
// few plans. When a batch fails its tasks are run one by one, so that an error reaches only the caller who caused it.
//   MultiThreadAsyncPredictor predict({predictor, predictor}, {.batch_size = 32});
//   predict.start();
//   const HostTensors outputs = predict.put_task({image}).get();
class MultiThreadAsyncPredictor {
 public:
  using DoneFn = std::function<void(const PendingPrediction&)>;

  explicit MultiThreadAsyncPredictor(std::vector<Ref<PredictorBase>> predictors, AsyncPredictorOptions options = {},
                                     SourceLine line = SourceLine::current());
  MultiThreadAsyncPredictor(MultiThreadAsyncPredictor&&) noexcept;
  ~MultiThreadAsyncPredictor();  // stop()

  // Starts the threads.
  void start();
  // `done` is called with the result, by the thread that made the prediction: it must neither throw nor wait, nor
  // stop the predictor or be its last owner. It may put further tasks, which always find room.
  PendingPrediction put_task(HostTensors inputs, DoneFn done = {});
  // Ends the threads. What is being predicted is finished; tasks that still wait fail with FailedPrecondition, and so
  // do later ones.
  void stop();

 private:
  struct Impl;
  Owned<Impl> impl_;
};

}  // namespace martello
