#pragma once
#include <martello/base/source_line.h>
#include <martello/predict/predict_config.h>
#include <martello/tower/online_predictor.h>

#include <vector>

namespace martello {

// A model outside of training: builds it in a graph of its own, makes a session and gives variables their values. A
// small value; copies share everything, and any number of threads may call it.
class OfflinePredictor : public OnlinePredictor {
 public:
  explicit OfflinePredictor(PredictConfig config, SourceLine line = SourceLine::current());
};

// One tower per device, all with the same variables. A call goes to the first.
class MultiTowerOfflinePredictor : public PredictorBase {
 public:
  // `towers` are the numbers of devices: {0, 1}. One number may come twice.
  MultiTowerOfflinePredictor(PredictConfig config, const std::vector<int>& towers,
                             SourceLine line = SourceLine::current());

  const OnlinePredictor& get_predictor(size_t tower = 0) const;
  const std::vector<OnlinePredictor>& get_predictors() const { return predictors_; }  // one per tower
  // So many, the towers in turn: for as many threads.
  std::vector<OnlinePredictor> get_predictors(size_t count) const;

 protected:
  HostTensors predict(const std::vector<HostTensor>& inputs) const override { return predictors_[0](inputs); }

 private:
  std::vector<OnlinePredictor> predictors_;
};

// One call runs all towers, each on its device: takes the inputs of the first tower, then those of the second ..., and
// gives outputs in the same order. Nothing is cut: whoever calls it decides what goes to which tower.
class DataParallelOfflinePredictor : public OnlinePredictor {
 public:
  DataParallelOfflinePredictor(PredictConfig config, const std::vector<int>& towers,
                               SourceLine line = SourceLine::current());
};

}  // namespace martello
