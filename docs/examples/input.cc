// The examples of docs/input.md, each trained for a few steps.
#include <martello/input/default_prefetch.h>
#include <martello/input/feed_input.h>
#include <martello/input/queue_input.h>
#include <martello/input/remap_input_source.h>
#include <martello/input/staging_input.h>
#include <martello/input/tensor_input.h>
#include <martello/martello.h>
#include <martello/train/launch.h>

#include <cstdio>

namespace mt = martello;

namespace {

mt::DataFlowRef images(int64_t count) {
  return mt::data::from_index(count, [](int64_t i, mt::Rng& rng) {
    return mt::Datapoint{mt::HostTensor::full({28, 28}, mt::f32, rng.uniform()), int32_t(i % 10)};
  });
}

struct Model : mt::ModelDesc {
  std::vector<mt::TensorSpec> inputs() const override {
    return {{{mt::kUnknown, 28, 28}, mt::f32, "image"}, {{mt::kUnknown}, mt::i32, "label"}};
  }
  mt::Tensor build_graph(mt::TensorList in) const override {
    auto logits = mt::fully_connected("fc", in["image"], {.units = 10});
    return mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, in["label"]), "cost");
  }
  mt::OptimizerRef optimizer() const override { return mt::Momentum(0.1); }
};

int first_example(const mt::DataFlowRef& flow) {
  mt::TrainConfig config;
  config.model = Model();
  config.dataflow = flow.shuffle().batch(32);
  config.max_epoch = 2;
  return mt::launch_train_with_config(config, mt::SimpleTrainer());
}

int train_on(mt::Ref<mt::InputSource> input) {
  mt::TrainConfig config;
  config.model = Model();
  config.data = input;
  config.steps_per_epoch = 4;
  config.max_epoch = 1;
  return mt::launch_train_with_config(config, mt::SimpleTrainer());
}

mt::Ref<mt::InputSource> queue_example(const mt::DataFlowRef& flow) {
  return mt::QueueInput(flow.shuffle().batch(32), {.capacity = 20, .seed = 7});
}

mt::Ref<mt::InputSource> finite_example(const mt::DataFlowRef& flow) {
  return mt::QueueInput(flow.batch(32), {.infinite = false});
}

mt::Ref<mt::InputSource> batch_example(const mt::DataFlowRef& flow) { return mt::BatchQueueInput(flow.shuffle(), 32); }

mt::Ref<mt::InputSource> tensor_example() {
  return mt::TensorInput([] {
    return mt::TensorList{mt::random_uniform({32, 28, 28}), mt::constant(mt::HostTensor({32}, mt::i32))};
  });
}

mt::Ref<mt::InputSource> staging_example(const mt::DataFlowRef& flow) {
  return mt::StagingInput(mt::QueueInput(flow.batch(32)), 2);
}

mt::Ref<mt::InputSource> dummy_example() { return mt::DummyConstantInput({{32, 28, 28}, {32}}); }

// Feeds what the source does not give.
struct Labels : mt::Callback {
  void setup_graph() override { label = context().get_tensor("label"); }
  void before_run(mt::RunContext& run) override { run.feed(label, values); }
  mt::Tensor label;
  mt::HostTensor values = mt::HostTensor({32}, mt::i32);
};

int remap_example(const mt::DataFlowRef& flow) {
  mt::TrainConfig config;
  config.model = Model();
  config.data = mt::remap_input_source(mt::QueueInput(flow.select({0}).batch(32)), {"image"});
  config.callbacks = {Labels()};
  config.steps_per_epoch = 4;
  config.max_epoch = 1;
  return mt::launch_train_with_config(config, mt::SimpleTrainer());
}

// A source of one's own: every hooked run is fed from a sensor.
class SensorInput : public mt::InputSource {
 public:
  void setup(const std::vector<mt::TensorSpec>& signature) override {
    for (auto& s : signature) placeholders_.push_back(mt::placeholder(s.shape, s.dtype, s.name));
  }
  mt::TensorList get_input_tensors() override { return placeholders_; }
  mt::CallbackList get_callbacks() override { return {Feeder(placeholders_)}; }
  bool feeds_each_tower() const override { return false; }  // all towers would get the same placeholders

 private:
  struct Feeder : mt::Callback {
    explicit Feeder(mt::TensorList t) : inputs(std::move(t)) {}
    void before_run(mt::RunContext& run) override {
      run.feed(inputs[0], mt::HostTensor({8, 28, 28}, mt::f32));
      run.feed(inputs[1], mt::HostTensor({8}, mt::i32));
    }
    mt::TensorList inputs;
  };
  mt::TensorList placeholders_;
};

}  // namespace

int main() {
  mt::logger::set_level(mt::logger::Level::error);
  const mt::DataFlowRef flow = images(256);
  int failures = first_example(flow) + remap_example(flow);
  failures += train_on(queue_example(flow)) + train_on(finite_example(flow)) + train_on(batch_example(flow));
  failures += train_on(tensor_example()) + train_on(staging_example(flow)) + train_on(dummy_example());
  failures += train_on(SensorInput());
  std::printf("%d failures\n", failures);
  return failures;
}
