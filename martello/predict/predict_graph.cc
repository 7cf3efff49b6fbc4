#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/predict/internal/predict_graph.h>
#include <martello/tensor/device.h>

#include <optional>
#include <set>

namespace martello::internal {
namespace {

TowerFunc function_of(const PredictConfig& config) {
  MARTELLO_CHECK(!config.model != !config.tower_func, "[predict] its config has ",
                 config.model ? "both a model and a tower_func. Set one of them."
                              : "no model. Set .model, or "
                                ".tower_func and .input_signature.");
  if (!config.model) return TowerFunc(config.tower_func, config.input_signature);
  MARTELLO_CHECK(config.input_signature.empty(), "[predict] its config has a model, whose inputs() are the signature, ",
                 "and an .input_signature too. Leave the latter out.");
  return TowerFunc([model = config.model](TensorList in) { return model->build_graph(std::move(in)); },
                   config.model->inputs());
}

}  // namespace

PredictGraph::PredictGraph(PredictConfig config) : config_(std::move(config)), function_(function_of(config_)) {
  MARTELLO_CHECK(!config_.output_names.empty(), "[predict] its config names no output. Set .output_names.");
  if (config_.input_names.empty())
    for (const TensorSpec& s : signature()) config_.input_names.push_back(s.name);
  std::set<std::string> names;
  for (const std::string& n : config_.input_names)
    MARTELLO_CHECK(names.insert(n).second, "[predict] .input_names has '", n, "' twice. Name each input once.");
}

TowerHandle PredictGraph::add_tower(std::string_view name, int device, const std::function<TensorList()>& inputs) {
  const GraphScope scope(graph_);
  const DeviceScope on(device < 0 ? std::string() : Device{.index = device}.str());
  const VariableScope shared("", function_.towers().empty() ? Reuse::no : Reuse::yes);
  const TowerContext tower(name, false);
  const auto placeholders = [&] {
    TensorList list;
    for (const TensorSpec& s : signature()) list.push_back(placeholder(s.shape, s.dtype, Name(s.name, s.line)));
    return list;
  };
  function_(inputs ? inputs() : placeholders());
  return function_.towers()[function_.towers().size() - 1];
}

std::shared_ptr<Session> PredictGraph::open() {
  if (config_.session_init) {
    const GraphScope scope(graph_);
    config_.session_init->setup_graph();
  } else if (const size_t count = graph_.collections().get(kTrainableVariables).size(); count > 0) {
    logger::warn("[predict] nothing gives values to its ", count, " trainable variables, so that they have those of ",
                 "their initializers. Set .session_init.");
  }
  graph_.finalize();
  auto session = std::make_shared<Session>(graph_, config_.session);
  if (config_.session_init) config_.session_init->run_init(*session);
  return session;
}

TensorList PredictGraph::inputs_of(const TowerHandle& tower) const {
  return tower.get_tensors(config_.input_names, {});
}
TensorList PredictGraph::outputs_of(const TowerHandle& tower) const {
  return tower.get_tensors(config_.output_names, {});
}

}  // namespace martello::internal
