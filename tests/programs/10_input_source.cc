// Input that is no DataFlow: a sensor that feeds every run, and tensors that the graph computes.
#include <martello/martello.h>

#include <cmath>

namespace mt = martello;

// feeds every hooked run from a sensor; no data flow
class SensorInput : public mt::InputSource {
 public:
  void setup(const std::vector<mt::TensorSpec>& signature) override {
    for (auto& s : signature) placeholders_.push_back(mt::placeholder(s.shape, s.dtype, s.name));
  }
  mt::TensorList get_input_tensors() override { return placeholders_; }
  mt::CallbackList get_callbacks() override { return {Feeder(placeholders_)}; }
  std::optional<int64_t> size() const override { return 1000; }
  bool feeds_each_tower() const override { return false; }

 private:
  class Feeder : public mt::Callback {
   public:
    explicit Feeder(mt::TensorList t) : t_(std::move(t)) { set_chief_only(false); }
    void before_run(mt::RunContext& run) override { run.feed(t_[0], read()); }

   private:
    static mt::HostTensor read() { return mt::HostTensor::full({8}, mt::f32, 2); }
    mt::TensorList t_;
  };
  mt::TensorList placeholders_;
};

static mt::Tensor distance(mt::Tensor x) {
  return mt::reduce_mean(mt::square(x - mt::get_variable("mean", {.initializer = mt::zeros()})), "distance");
}

struct Means : mt::ModelDesc {
  std::vector<mt::TensorSpec> inputs() const override { return {{{64, 10}, mt::f32, "x"}, {{}, mt::f32, "bias"}}; }
  mt::Tensor build_graph(mt::TensorList in) const override { return distance(in["x"] + in["bias"]); }
  mt::OptimizerRef optimizer() const override { return mt::GradientDescent(0.1); }
};

int main() {
  mt::SimpleTrainer sensor;
  sensor.setup_graph({{{8}, mt::f32, "x"}}, SensorInput(), distance, [] { return mt::Adam(0.1); });
  int rc = sensor.train_with_defaults({.steps_per_epoch = 100, .max_epoch = 1});
  const double learned = sensor.sess().get("mean").at(0);

  mt::SimpleTrainer computed;
  mt::TrainConfig c{.model = Means(),
                    .data = mt::StagingInput(mt::TensorInput([] {
                      return mt::TensorList{mt::random_uniform({64, 10}), mt::constant(3.f)};
                    })),
                    .steps_per_epoch = 50,
                    .max_epoch = 1};
  rc |= mt::launch_train_with_config(c, computed);
  const double mean = computed.sess().get("mean").at(0);

  mt::GraphScope graph;
  SensorInput input;
  input.setup({{{8}, mt::f32, "x"}});
  mt::multiply(mt::reduce_mean(input.get_input_tensors()[0]), 2, "loss");
  mt::identity(mt::placeholder({}, mt::f32, "y"), "acc");
  mt::Session sess;
  const auto values =
      sess.run({"loss", "acc"}, {{"x", mt::HostTensor::full({8}, mt::f32, 4)}, {"y", mt::HostTensor(0.5f)}});
  const bool holds = std::abs(learned - 2) < 0.3 && std::abs(mean - 3.5) < 0.1 && values[0].at(0) == 8;
  return holds ? rc : 1;
}
