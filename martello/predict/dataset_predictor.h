#pragma once
#include <martello/base/source_line.h>
#include <martello/data/dataflow.h>
#include <martello/predict/predict_config.h>
#include <martello/tower/online_predictor.h>

#include <functional>
#include <vector>

namespace martello {

// A model over a set of data: data pass 0 of a flow, in order, read ahead on a thread of its own. A datapoint with keys
// gives the inputs by their names, one without gives them in order.
class SimpleDatasetPredictor {
 public:
  SimpleDatasetPredictor(PredictConfig config, const DataFlowRef& flow, SourceLine line = SourceLine::current());
  SimpleDatasetPredictor(OnlinePredictor predictor, const DataFlowRef& flow, SourceLine line = SourceLine::current());

  // Calls f(datapoint, outputs) for each datapoint; from the beginning each time.
  void for_each(const std::function<void(const Datapoint&, HostTensors)>& f) const;
  // The outputs of all datapoints.
  std::vector<HostTensors> get_all_result() const;

 private:
  HostTensors inputs_of(const Datapoint& datapoint) const;

  OnlinePredictor predictor_;
  DataFlowRef flow_;
};

}  // namespace martello
