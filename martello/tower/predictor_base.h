#pragma once
#include <martello/tensor/host_tensor.h>

#include <vector>

namespace martello {

// A model with its weights, called like a function. Any number of threads may call it at once.
class PredictorBase {
 public:
  PredictorBase() = default;
  PredictorBase(const PredictorBase&) = default;
  PredictorBase(PredictorBase&&) = default;
  PredictorBase& operator=(const PredictorBase&) = default;
  PredictorBase& operator=(PredictorBase&&) = default;
  virtual ~PredictorBase() = default;

  // One value per input, in order; one per output.
  HostTensors operator()(const std::vector<HostTensor>& inputs) const { return predict(inputs); }

 protected:
  virtual HostTensors predict(const std::vector<HostTensor>& inputs) const = 0;
};

}  // namespace martello
