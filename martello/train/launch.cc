#include <martello/train/launch.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/node.h>
#include <martello/loop/interrupt.h>

#include <unordered_set>

namespace martello {
namespace {

// Regularization that nothing uses is not part of the cost.
void warn_of_unused_regularization(const Graph& graph) {
  std::unordered_set<const OpNode*> used;
  for (const auto& node : graph.impl().nodes)
    for (const Tensor& t : node->inputs) used.insert(t.node());
  std::vector<std::string> names;
  for (const Tensor& t : graph.collections().get(kRegularizationLosses))
    if (!used.contains(t.node())) names.push_back(str("'", t.name(), "'"));
  if (!names.empty())
    logger::warn("[launch] regularization losses that the cost does not use: ", join(names),
                 ". Add regularize_cost_from_collection() to the cost.");
}

}  // namespace

TrainEnd launch_train_with_config(const TrainConfig& config, SingleCostTrainer& trainer, SourceLine line) try {
  const InterruptScope signals(config.grace_seconds);  // also for one that comes while the graph is built
  trainer.setup_graph_of(config, line);
  warn_of_unused_regularization(trainer.graph());
  TrainOptions options = config.options();
  options.handle_signals = true;
  return trainer.train_with_defaults(std::move(options), line);
} catch (const std::exception& e) {
  logger::error("Training did not start: ", e.what());
  return {.reason = TrainEnd::failed, .message = e.what(), .error = std::current_exception()};
}

TrainEnd launch_train_with_config(const TrainConfig& config, SingleCostTrainer&& trainer, SourceLine line) {
  return launch_train_with_config(config, trainer, line);
}

}  // namespace martello
