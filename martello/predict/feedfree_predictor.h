#pragma once
#include <martello/base/owned.h>
#include <martello/base/source_line.h>
#include <martello/input/input_source.h>
#include <martello/predict/predict_config.h>

namespace martello {

// A model whose inputs come from an InputSource: every call takes its next datapoint. Threads may share one; each
// datapoint goes to one of them.
class FeedfreePredictor {
 public:
  FeedfreePredictor(PredictConfig config, Ref<InputSource> input, SourceLine line = SourceLine::current());
  FeedfreePredictor(FeedfreePredictor&&) noexcept;
  ~FeedfreePredictor();

  // Throws EndOfData behind the last datapoint of a source that was declared finite.
  HostTensors operator()();
  // The next call takes the first datapoint again.
  void reset();

 private:
  struct Impl;
  Owned<Impl> impl_;
};

}  // namespace martello
