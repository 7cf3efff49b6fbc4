#include <martello/predict/offline_predictor.h>

#include <martello/base/error.h>
#include <martello/predict/internal/predict_graph.h>

namespace martello {
namespace {

using internal::PredictGraph;

OnlinePredictor with_one_tower(PredictConfig config, SourceLine line) {
  return with_line(line, [&] {
    PredictGraph graph(std::move(config));
    const TowerHandle tower = graph.add_tower("", -1);
    TensorList inputs = graph.inputs_of(tower), outputs = graph.outputs_of(tower);
    return OnlinePredictor(std::move(inputs), std::move(outputs), graph.open());
  });
}

std::vector<TowerHandle> add_towers(PredictGraph& graph, const std::vector<int>& devices) {
  MARTELLO_CHECK(!devices.empty(), "[predict] has no tower. Give the number of at least one device.");
  std::vector<TowerHandle> towers;
  for (const int device : devices) {
    MARTELLO_CHECK(device >= 0, "[predict] tower ", towers.size(), " is on device ", device, "; devices count from 0.");
    towers.push_back(graph.add_tower(str("tower", towers.size()), device));
  }
  return towers;
}

void append(TensorList& list, const TensorList& more) {
  for (const Tensor& t : more) list.push_back(t);
}

OnlinePredictor with_all_towers(PredictConfig config, const std::vector<int>& devices, SourceLine line) {
  return with_line(line, [&] {
    PredictGraph graph(std::move(config));
    TensorList inputs, outputs;
    for (const TowerHandle& tower : add_towers(graph, devices)) {
      append(inputs, graph.inputs_of(tower));
      append(outputs, graph.outputs_of(tower));
    }
    return OnlinePredictor(std::move(inputs), std::move(outputs), graph.open());
  });
}

}  // namespace

OfflinePredictor::OfflinePredictor(PredictConfig config, SourceLine line)
    : OnlinePredictor(with_one_tower(std::move(config), line)) {}

MultiTowerOfflinePredictor::MultiTowerOfflinePredictor(PredictConfig config, const std::vector<int>& towers,
                                                       SourceLine line) {
  with_line(line, [&] {
    PredictGraph graph(std::move(config));
    for (const TowerHandle& tower : add_towers(graph, towers))
      predictors_.emplace_back(graph.inputs_of(tower), graph.outputs_of(tower));
    const auto session = graph.open();
    for (OnlinePredictor& p : predictors_) p.use_session(session);
  });
}

const OnlinePredictor& MultiTowerOfflinePredictor::get_predictor(size_t tower) const {
  MARTELLO_CHECK(tower < predictors_.size(), "[predict] there is no tower ", tower, " among ", predictors_.size(), ".");
  return predictors_[tower];
}

std::vector<OnlinePredictor> MultiTowerOfflinePredictor::get_predictors(size_t count) const {
  std::vector<OnlinePredictor> list;
  for (size_t i = 0; i < count; ++i) list.push_back(predictors_[i % predictors_.size()]);
  return list;
}

DataParallelOfflinePredictor::DataParallelOfflinePredictor(PredictConfig config, const std::vector<int>& towers,
                                                           SourceLine line)
    : OnlinePredictor(with_all_towers(std::move(config), towers, line)) {}

}  // namespace martello
