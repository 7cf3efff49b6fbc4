// The examples of docs/inference.md: a small model is trained, validated, saved and restored.
#include <martello/callbacks/inference/confusion_matrix.h>
#include <martello/callbacks/inference/inference_runner.h>
#include <martello/callbacks/inference/inferencers.h>
#include <martello/callbacks/model_saver.h>
#include <martello/callbacks/wrappers.h>
#include <martello/martello.h>
#include <martello/train/launch.h>
#include <martello/train/restore.h>

#include <cstdio>
#include <filesystem>

namespace mt = martello;

namespace {

// Which of three numbers is the largest?
struct Largest : mt::ModelDesc {
  std::vector<mt::TensorSpec> inputs() const override {
    return {{{mt::kUnknown, 3}, mt::f32, "x"}, {{mt::kUnknown}, mt::i32, "label"}};
  }
  mt::Tensor build_graph(mt::TensorList in) const override {
    mt::Tensor logits = mt::fully_connected("fc", in["x"], {.units = 3});
    mt::softmax(logits, "prob");
    mt::prediction_incorrect(logits, in["label"], "incorrect");
    auto losses = mt::sparse_softmax_cross_entropy(logits, in["label"], "losses");
    return mt::reduce_mean(losses, "cost");
  }
  mt::OptimizerRef optimizer() const override { return mt::Adam(0.05); }
};

mt::DataFlowRef numbers(int64_t count) {
  return mt::data::from_index(count, [](int64_t, mt::Rng& rng) {
    mt::HostTensor x({3}, mt::f32);
    int32_t label = 0;
    for (int32_t i = 0; i < 3; ++i) {
      x.set(i, rng.uniform());
      if (x.at(i) > x.at(label)) label = i;
    }
    return mt::Datapoint{x, label};
  });
}

mt::CallbackList first_example(const mt::DataFlowRef& validation) {
  return {mt::InferenceRunner(validation.batch(256, {.remainder = true}),
                              {mt::ClassificationError("incorrect"), mt::ScalarStats({"cost"})})};
}

mt::CallbackList several_example(const mt::DataFlowRef& validation, const mt::DataFlowRef& test) {
  return {mt::InferenceRunner(validation.batch(100), {mt::ClassificationError("incorrect")}),
          mt::PeriodicTrigger(mt::InferenceRunner(test.batch(100), {mt::ClassificationError("incorrect")},
                                                  {.tower_name = "TestTower", .prefix = "test"}),
                              {.epochs = 2})};
}

mt::CallbackList parallel_example(const mt::DataFlowRef& validation) {
  return {mt::DataParallelInferenceRunner(validation.batch(100, {.remainder = true}),
                                          {mt::ClassificationError("incorrect")}, {0, 1})};
}

class MostCertain : public mt::Inferencer {
 public:
  std::vector<std::string> fetches() const override { return {"prob"}; }
  void before_inference() override { most_ = 0; }
  void on_fetches(const mt::HostTensors& values) override {
    for (float p : values[0].data<float>()) most_ = std::max(most_, p);
  }
  mt::Scalars after_inference() override { return {{"most_certain", most_}}; }
  std::vector<std::string> provides() const override { return {"most_certain"}; }

 private:
  float most_ = 0;
};

mt::CallbackList metrics_example(const mt::DataFlowRef& validation) {
  return {mt::InferenceRunner(
      validation.batch(100),
      {mt::TopKError("prob", "label", {.k = 2}), mt::ConfusionMatrix("prob", "label", {.class_names = {"x", "y", "z"}}),
       mt::Perplexity("losses"), MostCertain()})};
}

mt::TrainEnd train_example(mt::CallbackList callbacks, const std::string& dir) {
  callbacks.push_back(mt::ModelSaver({.max_to_keep = 3, .dir = dir}));
  mt::TrainConfig config{.model = Largest(),
                         .dataflow = numbers(2000).shuffle().batch(50),
                         .callbacks = std::move(callbacks),
                         .max_epoch = 4};
  return mt::launch_train_with_config(config, mt::SimpleTrainer());
}

mt::TrainEnd restore_example(const std::string& dir) {
  mt::TrainConfig config{.model = Largest(),
                         .dataflow = numbers(2000).shuffle().batch(50),
                         .callbacks = first_example(numbers(300)),
                         .session_init = mt::SmartInit(dir + "/model-160.safetensors"),
                         .starting_epoch = 5,
                         .max_epoch = 5};
  return mt::launch_train_with_config(config, mt::SimpleTrainer());
}

}  // namespace

int main() {
  mt::logger::set_level(mt::logger::Level::error);
  const std::string dir = std::filesystem::temp_directory_path() / "martello_docs_inference";
  int code = train_example(first_example(numbers(300)), dir);
  code |= train_example(several_example(numbers(300), numbers(400)), dir);
  code |= train_example(parallel_example(numbers(350)), dir);
  code |= train_example(metrics_example(numbers(300)), dir);
  code |= restore_example(dir);
  std::filesystem::remove_all(dir);
  return code;
}
