#pragma once
#include <martello/train/parallel_mode.h>
#include <martello/train/tower_trainer.h>

namespace martello {

using OptimizerFn = std::function<OptimizerRef()>;

// Minimizes one cost by gradients, in any parallel mode.
class SingleCostTrainer : public TowerTrainer {
 public:
  explicit SingleCostTrainer(Ref<ParallelMode> mode = one_tower());
  SingleCostTrainer(TrainConfig config, Ref<ParallelMode> mode);

  // Once. Every tower takes tensors of its own from `input`; get_optimizer is called once, in the first tower.
  void setup_graph(std::vector<TensorSpec> signature, Ref<InputSource> input, CostFn get_cost,
                   OptimizerFn get_optimizer, SourceLine line = SourceLine::current());
  bool is_chief() const override { return mode_->is_chief(); }

 protected:
  // With the config given to the constructor.
  void setup() override;
  std::vector<std::string> devices() const override;

 private:
  friend TrainEnd launch_train_with_config(const TrainConfig& config, SingleCostTrainer& trainer, SourceLine line);
  void setup_graph_of(const TrainConfig& config, SourceLine line);

  Ref<ParallelMode> mode_;
};

// One tower on one device, without a name: the simplest trainer.
class SimpleTrainer : public SingleCostTrainer {
 public:
  SimpleTrainer() = default;
  explicit SimpleTrainer(TrainConfig config);
};

// Steps that run hooks and advance global_step, and nothing else. A graph is optional.
class NoOpTrainer : public SimpleTrainer {
 public:
  using SimpleTrainer::SimpleTrainer;

 protected:
  void run_step() override { hooked_sess().run({}); }
};

// The older name of a SimpleTrainer whose data flow is read by a QueueInput: all of them do that.
class QueueInputTrainer : public SimpleTrainer {
 public:
  using SimpleTrainer::SimpleTrainer;
};

}  // namespace martello
