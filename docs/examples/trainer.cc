// The examples of docs/trainer.md and docs/tower-functions.md.
#include <martello/martello.h>

#include <cmath>
#include <cstdio>

namespace mt = martello;

struct Classifier : mt::ModelDesc {
  std::vector<mt::TensorSpec> inputs() const override {
    return {{{mt::kUnknown, 8}, mt::f32, "x"}, {{mt::kUnknown}, mt::i32, "label"}};
  }
  mt::Tensor build_graph(mt::TensorList in) const override {
    auto hidden = mt::fully_connected("fc0", in["x"], {.units = 16, .activation = mt::relu});
    auto logits = mt::fully_connected("fc1", hidden, {.units = 2});
    mt::softmax(logits, "prob");
    auto cost = mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, in["label"]), "cost");
    mt::add_moving_summary({cost});
    return cost;
  }
  mt::OptimizerRef optimizer() const override { return mt::Adam(0.01); }
};

// Whether the sum of eight numbers is positive.
mt::DataFlowRef sums() {
  return mt::data::from_index(512, [](int64_t, mt::Rng& rng) {
    mt::HostTensor x({8}, mt::f32);
    float sum = 0;
    for (float& v : x.mutable_data<float>()) sum += v = float(rng.normal());
    return mt::Datapoint{x, int(sum > 0)};
  });
}

mt::TrainEnd launch_example() {
  mt::TrainConfig config{
      .model = Classifier(),
      .dataflow = sums().shuffle().batch(32),
      .callbacks = {mt::PeriodicTrigger(
          mt::CallbackFactory(
              {.trigger = [](mt::TrainContext& c) { std::printf("epoch %d\n", int(c.loop().epoch_num)); }}),
          {.epochs = 2})},
      .max_epoch = 4};
  return mt::launch_train_with_config(config, mt::SimpleTrainer());
}

mt::TrainEnd setup_graph_example() {
  mt::SimpleTrainer trainer;
  trainer.setup_graph(
      {{{mt::kUnknown, 8}, mt::f32, "x"}, {{mt::kUnknown}, mt::i32, "label"}},  // what comes in
      mt::FeedInput(sums().batch(32)),                                          // from where
      [](mt::Tensor x, mt::Tensor label) {                                      // the cost: the tower function
        auto logits = mt::fully_connected("fc", x, {.units = 2});
        return mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, label), "cost");
      },
      [] { return mt::Momentum(0.1); });  // how it is minimized
  return trainer.train_with_defaults({.steps_per_epoch = 16, .max_epoch = 3});
}

mt::TrainEnd older_example() {
  mt::TrainConfig config{.model = Classifier(), .dataflow = sums().batch(32), .max_epoch = 2};
  return mt::SimpleTrainer(config).train();
}

int exit_code_example(const mt::TrainEnd& end) {
  if (end.reason == mt::TrainEnd::stopped) std::printf("stopped early: %s\n", end.message.c_str());
  if (end.reason == mt::TrainEnd::failed) end.rethrow();
  return end;  // 0 finished or stopped, 1 failed, 130 SIGINT, 143 SIGTERM
}

// Asks the model something after every epoch.
class Ask : public mt::Callback {
 public:
  void setup_graph() override { predict_ = context().get_predictor({"x"}, {"prob"}); }
  void trigger() override {
    const mt::HostTensor prob = predict_({mt::HostTensor::full({1, 8}, mt::f32, 1)})[0];
    monitors().put_scalar("ones_are_positive", prob.at(1));
  }

 private:
  mt::OnlinePredictor predict_;
};

bool predictor_example() {
  mt::TrainConfig config{
      .model = Classifier(), .dataflow = sums().shuffle().batch(32), .callbacks = {Ask()}, .max_epoch = 10};
  mt::SimpleTrainer trainer;
  exit_code_example(mt::launch_train_with_config(config, trainer));
  return trainer.monitors().get_latest("ones_are_positive") > 0.9;
}

// The model of docs/tower-functions.md: noise in training only.
mt::Tensor noisy_cost(mt::Tensor x, mt::Tensor label) {
  if (mt::get_current_tower_context().is_training()) x = x + mt::random_normal(mt::shape(x), {.stddev = 0.1});
  auto logits = mt::fully_connected("fc", x, {.units = 2});
  mt::argmax(logits, {.axis = 1}, "answer");
  return mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, label), "cost");
}

mt::Shape handle_example() {
  mt::SimpleTrainer trainer;
  trainer.setup_graph(Classifier().inputs(), mt::FeedInput(sums().batch(32)), noisy_cost,
                      [] { return mt::GradientDescent(0.1); });
  mt::TowerHandle tower = trainer.towers().training()[0];
  mt::Tensor logits = tower["fc/output"];
  mt::Tensor x = tower["x"];           // the input, whatever its tensor is called
  mt::Tensor weights = tower["fc/W"];  // no tensor of this name: the variable
  std::printf("%s %s %s\n", logits.name().c_str(), x.name().c_str(), weights.name().c_str());
  return weights.shape();
}

int main() {
  const bool holds = predictor_example() && handle_example() == mt::Shape(8, 2);
  return holds ? launch_example() | setup_graph_example() | older_example() : 1;
}
