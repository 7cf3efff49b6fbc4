#pragma once
#include <martello/base/ref.h>
#include <martello/loop/session_init.h>
#include <martello/runtime/session.h>
#include <martello/tower/tower_function.h>
#include <martello/train/model_desc.h>

#include <string>
#include <vector>

namespace martello {

// What a predictor outside of training is made from. The model is built in inference mode, in a graph of its own.
//   OfflinePredictor predict({.model = ConvNet(), .input_names = {"image"}, .output_names = {"prob"},
//                             .session_init = SmartInit("train_log/convnet/model-4680.safetensors")});
struct PredictConfig {
  Ref<ModelDescBase> model = {};  // or
  CostFn tower_func = {};         // a function that builds it, with its signature; what it returns is not used
  std::vector<TensorSpec> input_signature = {};
  std::vector<std::string> input_names = {};   // what callers give, in order; default: all inputs of the signature
  std::vector<std::string> output_names = {};  // what they get
  Ref<SessionInit> session_init = {};          // none: variables have their initial values
  SessionOptions session = {};
};

}  // namespace martello
