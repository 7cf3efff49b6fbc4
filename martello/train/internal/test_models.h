#pragma once
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/input/input_source.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/optim/optimizers.h>
#include <martello/train/model_desc.h>

#include <memory>

// Small models and inputs for tests of trainers.
namespace martello::testing {

inline const std::vector<TensorSpec> kLineSignature = {{{kUnknown}, f32, "x"}, {{kUnknown}, f32, "y"}};

// Feeds x = 0, 1, 2, 3 and y = 2 x + 1 to every hooked run.
class LineInput : public InputSource {
 public:
  void setup(const std::vector<TensorSpec>& signature) override {
    for (const TensorSpec& s : signature) inputs_.push_back(placeholder(s.shape, s.dtype, Name(s.name)));
  }
  TensorList get_input_tensors() override { return inputs_; }
  CallbackList get_callbacks() override { return {Feeder(inputs_)}; }
  std::optional<int64_t> size() const override { return 5; }
  bool feeds_each_tower() const override { return false; }

 private:
  class Feeder : public Callback {
   public:
    explicit Feeder(TensorList inputs) : inputs_(std::move(inputs)) {}
    std::string name() const override { return "LineInput"; }
    void before_run(RunContext& run) override {
      run.feed(inputs_[0], x_);
      run.feed(inputs_[1], y_);
    }

   private:
    TensorList inputs_;
    HostTensor x_ = HostTensor::of<float>({0, 1, 2, 3}), y_ = HostTensor::of<float>({1, 3, 5, 7});
  };
  TensorList inputs_;
};

// y = w x + b, both from 0.
inline Tensor line_cost(Tensor x, Tensor y) {
  const auto w = get_variable("line/w", {.initializer = zeros()}), b = get_variable("line/b", {.initializer = zeros()});
  const Tensor prediction = add(x * w, b, "prediction");
  return reduce_mean(square(prediction - y), {}, "cost");
}

struct LineModel : ModelDesc {
  std::vector<TensorSpec> inputs() const override { return kLineSignature; }
  Tensor build_graph(TensorList in) const override { return line_cost(in["x"], in["y"]); }
  OptimizerRef optimizer() const override { return GradientDescent(0.1); }
};

}  // namespace martello::testing
