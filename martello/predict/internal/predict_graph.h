#pragma once
#include <martello/predict/predict_config.h>
#include <martello/tower/online_predictor.h>
#include <martello/tower/tower_func.h>

#include <functional>
#include <memory>

namespace martello::internal {

// The graph of a PredictConfig: towers in inference mode that share their variables, then a session.
class PredictGraph {
 public:
  // Refuses a config that does not say what to build or what to give.
  explicit PredictGraph(PredictConfig config);

  // `device` is its number, negative: left to the planner. `inputs` is called inside the tower; default: placeholders.
  TowerHandle add_tower(std::string_view name, int device, const std::function<TensorList()>& inputs = {});
  // After the last tower: the graph is final, variables have their values.
  std::shared_ptr<Session> open();

  TensorList inputs_of(const TowerHandle& tower) const;
  TensorList outputs_of(const TowerHandle& tower) const;
  const Graph& graph() const { return graph_; }
  const std::vector<TensorSpec>& signature() const { return function_.input_signature(); }

 private:
  PredictConfig config_;
  Graph graph_;
  TowerFunc function_;
};

}  // namespace martello::internal
