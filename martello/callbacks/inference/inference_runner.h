#pragma once
#include <martello/base/owned.h>
#include <martello/callbacks/inference/inferencer.h>
#include <martello/data/dataflow.h>
#include <martello/input/input_source.h>
#include <martello/tower/tower_func.h>

#include <optional>
#include <string>
#include <vector>

namespace martello {

struct InferenceOptions {
  std::string tower_name = "InferenceTower";
  int device = 0;           // whose training tower's variables it reads; negative: the CPU's
  std::string prefix = {};  // "test": its scalars are test/validation_error ...
  // A tower function other than the trainer's: it shares the trainer's variables, makes none, and may have inputs of
  // its own.
  std::optional<TowerFunc> tower_func = {};
  // Runs the first datapoint before training, for nothing but errors: data that does not fit fails the run before its
  // first step.
  bool rehearse = true;
};

// Runs the trainer's model in inference mode over a set of data and lets inferencers make scalars of it, whenever it is
// triggered. Reads the variables of training and changes nothing: not the training input, not its random numbers, not
// global_step. Every time it reads its data from the beginning, all of it and each datapoint once. Several runners need
// different tower names.
//   InferenceRunner(test.batch(256, {.remainder = true}), {ClassificationError("incorrect"), ScalarStats({"cost"})})
class InferenceRunner : public Callback {
 public:
  // The flow ends where its data pass 0 ends; its size may be unknown.
  InferenceRunner(DataFlowRef flow, std::vector<Ref<Inferencer>> inferencers, const InferenceOptions& options = {},
                  SourceLine line = SourceLine::current());
  // size() runs, or as many as it takes until the source ends.
  InferenceRunner(Ref<InputSource> input, std::vector<Ref<Inferencer>> inferencers,
                  const InferenceOptions& options = {}, SourceLine line = SourceLine::current());
  InferenceRunner(InferenceRunner&&) noexcept;
  ~InferenceRunner() override;

  // Acts around every run of inference, after the inferencers and the input. Before training.
  void register_hook(Ref<RunHook> hook, SourceLine line = SourceLine::current());

  void setup_graph() override;
  void before_train() override;
  void trigger() override;
  void after_train() override;
  std::vector<std::string> provides() const override;
  std::string name() const override;  // "InferenceRunner", or "InferenceRunner(second)" for tower "second"
  std::string name_scope() const override { return "InferenceRunner"; }
  std::string description() const override;

 protected:
  struct Impl;
  static constexpr int64_t kReadAhead = 16 << 20;  // bytes of validation data that may wait while training goes on
  Impl& runner() const { return *impl_; }
  void put_results();

 private:
  Owned<Impl> impl_;
};

}  // namespace martello
