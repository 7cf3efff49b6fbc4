#pragma once
#include <martello/callbacks/inference/inference_runner.h>

namespace martello {

// An InferenceRunner with a tower on each of several devices, which take datapoints in turn and run at once.
// Inferencers see the datapoints in their order; those at the end that are too few for all towers go to the first one,
// one by one. So every sample counts once, whatever the number of devices; the data's size may be unknown.
//   DataParallelInferenceRunner(test.batch(256, {.remainder = true}), {ClassificationError("incorrect")}, {0, 1})
class DataParallelInferenceRunner : public InferenceRunner {
 public:
  // `devices` are their numbers; InferenceOptions::device is not used. Tower k is called `tower_name`k.
  DataParallelInferenceRunner(DataFlowRef flow, std::vector<Ref<Inferencer>> inferencers, std::vector<int> devices,
                              const InferenceOptions& options = {}, SourceLine line = SourceLine::current());
  DataParallelInferenceRunner(DataParallelInferenceRunner&&) noexcept;
  ~DataParallelInferenceRunner() override;

  void setup_graph() override;
  void before_train() override;
  void trigger() override;
  void after_train() override;
  std::string name() const override { return "DataParallel" + InferenceRunner::name(); }

 private:
  struct Parallel;
  Owned<Parallel> parallel_;
};

}  // namespace martello
