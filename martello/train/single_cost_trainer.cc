#include <martello/train/single_cost_trainer.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/graph/scopes.h>
#include <martello/input/default_prefetch.h>
#include <martello/train/internal/build_towers.h>

namespace martello {
namespace {

Ref<ParallelMode> checked(Ref<ParallelMode> mode) {
  MARTELLO_CHECK(mode, "[trainer] its parallel mode is null.");
  return mode;
}

Tensor checked_cost(const TensorList& outputs) {
  MARTELLO_CHECK(outputs.size() == 1 && !outputs[0].is_null(),
                 "[trainer] the tower function returned no cost in a training tower: a null Tensor.");
  MARTELLO_CHECK(outputs[0].rank() == 0, "[trainer] the cost '", outputs[0].name(), "' needs to be a scalar but is ",
                 outputs[0].dtype(), outputs[0].shape(), ". Use reduce_mean().\n  ", outputs[0].node()->context());
  return outputs[0];
}

OptimizerRef call(const OptimizerFn& get_optimizer) {
  OptimizerRef optimizer = get_optimizer();
  MARTELLO_CHECK(optimizer, "[trainer] the optimizer function returned null.");
  return optimizer;
}

}  // namespace

SingleCostTrainer::SingleCostTrainer(Ref<ParallelMode> mode) : mode_(checked(std::move(mode))) {}
SingleCostTrainer::SingleCostTrainer(TrainConfig config, Ref<ParallelMode> mode)
    : TowerTrainer(std::move(config)), mode_(checked(std::move(mode))) {}

SimpleTrainer::SimpleTrainer(TrainConfig config) : SingleCostTrainer(std::move(config), one_tower()) {}

std::vector<std::string> SingleCostTrainer::devices() const { return devices_of(*mode_); }

void SingleCostTrainer::setup_graph(std::vector<TensorSpec> signature, Ref<InputSource> input, CostFn get_cost,
                                    OptimizerFn get_optimizer, SourceLine line) {
  with_line(line, [&] {
    MARTELLO_CHECK(input, "[trainer] setup_graph() got a null input.");
    MARTELLO_CHECK(get_optimizer, "[trainer] setup_graph() got an empty optimizer function.");
    if (find_tower_func())
      throw FailedPrecondition("[trainer] setup_graph() is called twice: the graph is built once.");
    set_tower_func(TowerFunc(std::move(get_cost), signature));
  });
  const GraphScope scope(graph());
  const std::vector<TowerSpec> towers = mode_->towers();
  setup_input(*input, signature, towers.size());
  OptimizerRef optimizer;
  std::vector<GradVars> gradients;
  build_towers(tower_func(), *mode_, *input, [&](const BuiltTower& tower) {
    const Tensor cost = checked_cost(tower.outputs);
    if (!optimizer) optimizer = call(get_optimizer);
    gradients.push_back(optimizer->compute_gradients(cost, tower.variables));
  });
  check_same_gradients(gradients, towers);
  train_op = mode_->apply(gradients, *optimizer, Name("train_op", line));
  register_callbacks(callbacks_of(*input), line);
  register_callbacks(mode_->callbacks(), line);
}

void SingleCostTrainer::setup_graph_of(const TrainConfig& config, SourceLine line) {
  with_line(line, [&] { config.check(); });
  const Ref<ModelDesc> model = config.model;
  setup_graph(
      model->inputs(), apply_default_prefetch(config.get_input(), devices()),
      [model](TensorList in) { return model->build_graph(std::move(in)); }, [model] { return model->optimizer(); },
      line);
}

void SingleCostTrainer::setup() {
  if (has_config() && !find_tower_func()) setup_graph_of(config(), {});
}

}  // namespace martello
