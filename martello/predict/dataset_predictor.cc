#include <martello/predict/dataset_predictor.h>

#include <martello/base/error.h>
#include <martello/predict/offline_predictor.h>

namespace martello {
namespace {

constexpr int64_t kReadAhead = 16 << 20;  // bytes

DataFlowRef checked(const DataFlowRef& flow, SourceLine line) {
  return with_line(line, [&] {
    MARTELLO_CHECK(flow, "[predict] its data flow is null: it was never assigned.");
    return flow.prefetch({.buffer_bytes = kReadAhead}, line);
  });
}

// "tower0/image" is the input "image".
std::string_view last_part(std::string_view name) { return name.substr(name.rfind('/') + 1); }

}  // namespace

SimpleDatasetPredictor::SimpleDatasetPredictor(PredictConfig config, const DataFlowRef& flow, SourceLine line)
    : SimpleDatasetPredictor(OfflinePredictor(std::move(config), line), flow, line) {}

SimpleDatasetPredictor::SimpleDatasetPredictor(OnlinePredictor predictor, const DataFlowRef& flow, SourceLine line)
    : predictor_(std::move(predictor)), flow_(checked(flow, line)) {}

HostTensors SimpleDatasetPredictor::inputs_of(const Datapoint& datapoint) const {
  if (datapoint.keys().empty()) return datapoint.components();
  HostTensors inputs;
  for (const Tensor& t : predictor_.inputs()) inputs.push_back(datapoint[last_part(t.name())]);
  return inputs;
}

void SimpleDatasetPredictor::for_each(const std::function<void(const Datapoint&, HostTensors)>& f) const {
  const auto iterator = flow_->iterate(Pass{});
  for (int64_t i = 0; auto datapoint = iterator->next(); ++i) {
    HostTensors outputs;
    try {
      outputs = predictor_(inputs_of(*datapoint));
    } catch (Error& e) {
      e.add_context(str("in datapoint ", i, " of '", flow_.description(), "'"));
      throw;
    }
    f(*datapoint, std::move(outputs));
  }
}

std::vector<HostTensors> SimpleDatasetPredictor::get_all_result() const {
  std::vector<HostTensors> all;
  for_each([&](const Datapoint&, HostTensors outputs) { all.push_back(std::move(outputs)); });
  return all;
}

}  // namespace martello
