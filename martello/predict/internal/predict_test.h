#pragma once
#include <martello/models/batch_norm.h>
#include <martello/models/conv.h>
#include <martello/models/fully_connected.h>
#include <martello/models/pooling.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/softmax.h>
#include <martello/predict/predict_config.h>
#include <martello/train/restore.h>

#include <random>
#include <string>

// Small models for tests of predictors.
namespace martello::testing {

// y = w x + b with w = 3 and b = 1.
struct Line : ModelDescBase {
  std::vector<TensorSpec> inputs() const override { return {{{kUnknown}, f32, "x"}, {{kUnknown}, f32, "label"}}; }
  Tensor build_graph(TensorList in) const override {
    const Variable w = get_variable("line/w", {.initializer = zeros()}),
                   b = get_variable("line/b", {.initializer = zeros()});
    const Tensor y = add(in["x"] * w, b, "y");
    return subtract(y, in["label"], "distance");
  }
};
inline PredictConfig line_config() {
  return {.model = Line(),
          .input_names = {"x"},
          .output_names = {"y"},
          .session_init = DictRestore({{"line/w", HostTensor(3.f)}, {"line/b", HostTensor(1.f)}})};
}

// Convolutions with batch norm: before a ReLU, with a bias, of a sum of two, and of channels first.
struct SmallResNet : ModelDescBase {
  explicit SmallResNet(DataFormat f = DataFormat::nhwc) : format(f) {}
  std::vector<TensorSpec> inputs() const override {
    const bool is_last = format == DataFormat::nhwc;
    return {{is_last ? Shape(kUnknown, 8, 8, 3) : Shape(kUnknown, 3, 8, 8), f32, "image"}, {{kUnknown}, i32, "label"}};
  }
  Tensor norm(const char* name, Tensor x) const { return batch_norm(name, x, {.data_format = format}); }
  Tensor build_graph(TensorList in) const override {
    const Conv2D biased{.filters = 16, .kernel = 3, .data_format = format};
    const Conv2D plain{.filters = 16, .kernel = 3, .use_bias = false, .data_format = format};
    Tensor x = relu(norm("bn0", conv2d("conv0", in["image"], plain)));
    const Tensor y = norm("bn1", conv2d("conv1", x, biased));
    x = relu(x + y);
    x = norm("bn2", x);  // of no product
    const Tensor hidden = norm("bn3", fully_connected("fc0", x, {.units = 32}));
    return softmax(fully_connected("fc1", relu(hidden), {.units = 10}), "prob");
  }
  DataFormat format;
};

inline HostTensor random_values(Shape shape, unsigned seed, float low = -1, float high = 1) {
  HostTensor t(std::move(shape), f32);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  for (float& v : t.mutable_data<float>()) v = uniform(random);
  return t;
}

// Moments and factors as a training would have left them.
class RandomNorms : public SessionInit {
 public:
  void run_init(Session& session) override {
    unsigned seed = 1;
    for (const Variable& v : session.graph().collections().get(kGlobalVariables)) {
      const std::string name = v.handle().name();
      const bool is_positive = name.ends_with("variance/EMA") || name.ends_with("gamma");
      if (name.find("bn") != std::string::npos)
        session.set(name, random_values(v.shape(), ++seed, is_positive ? 0.3f : -0.5f, is_positive ? 2.f : 0.5f));
    }
  }
};

inline PredictConfig resnet_config(DataFormat format = DataFormat::nhwc) {
  return {
      .model = SmallResNet(format), .input_names = {"image"}, .output_names = {"prob"}, .session_init = RandomNorms()};
}

}  // namespace martello::testing
