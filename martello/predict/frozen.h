#pragma once
#include <martello/base/source_line.h>
#include <martello/predict/predict_config.h>
#include <martello/tower/online_predictor.h>

#include <string>
#include <vector>

// A model for inference in one file: the part of the graph that its outputs need, with the values of its variables. The
// file is a safetensors file; the graph is its metadata `martello.graph`, as text. Neither the program that built the
// model nor its checkpoint is needed to run it; ops of one's own are, by register_op().
//   ModelExporter({.model = ConvNet(), ...}).export_compact("convnet.safetensors");
//   FrozenPredictor predict("convnet.safetensors");
namespace martello {

struct ExportOptions {
  bool fold_batch_norm = true;  // into the weights before it: faster, other rounding
};

class ModelExporter {
 public:
  explicit ModelExporter(PredictConfig config, SourceLine line = SourceLine::current());
  // Of a predictor that has a session: its graph and the values of this moment.
  explicit ModelExporter(OnlinePredictor predictor);

  // Refuses a graph that writes variables or calls functions of the program. Writes aside and renames.
  void export_compact(const std::string& path, ExportOptions options = {},
                      SourceLine line = SourceLine::current()) const;

 private:
  OnlinePredictor predictor_;
};

// Runs what export_compact() wrote.
class FrozenPredictor : public OnlinePredictor {
 public:
  explicit FrozenPredictor(const std::string& path, const SessionOptions& options = {},
                           SourceLine line = SourceLine::current());
  // What they were called in the model, in the order of a call's values.
  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;
};

}  // namespace martello
