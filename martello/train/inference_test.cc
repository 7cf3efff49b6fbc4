// InferenceRunner in training.
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/inference/confusion_matrix.h>
#include <martello/callbacks/inference/inference_runner.h>
#include <martello/callbacks/inference/inferencers.h>
#include <martello/callbacks/run_update_ops.h>
#include <martello/callbacks/wrappers.h>
#include <martello/data/sources.h>
#include <martello/input/feed_input.h>
#include <martello/input/queue_input.h>
#include <martello/input/tensor_input.h>
#include <martello/models/batch_norm.h>
#include <martello/models/dropout.h>
#include <martello/models/fully_connected.h>
#include <martello/ops/identity.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <map>

namespace martello {
namespace {

using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;

// y = 1 for every third sample, and its number as x.
Datapoint sample(int64_t i) { return Datapoint(static_cast<float>(i), i % 3 == 0 ? 1.f : 0.f); }
DataFlowRef samples(int64_t n) {
  return data::from_index(n, [](int64_t i, Rng&) { return sample(i); });
}

Tensor wrong_cost(Tensor x, Tensor y) {
  identity(y, "incorrect");
  return line_cost(x, y);
}

// Keeps every x that it sees, by inference.
struct Seen : Inferencer {
  explicit Seen(std::shared_ptr<std::vector<std::vector<float>>> p) : passes(std::move(p)) {}
  std::vector<std::string> fetches() const override { return {"x"}; }
  void before_inference() override { passes->emplace_back(); }
  void on_fetches(const HostTensors& v) override {
    EXPECT_EQ(num_samples(), v[0].num_elements());
    for (float x : v[0].data<float>()) passes->back().push_back(x);
  }
  Scalars after_inference() override { return {}; }
  std::shared_ptr<std::vector<std::vector<float>>> passes;
};
using Passes = std::vector<std::vector<float>>;

// Trains a line for two epochs of three steps.
struct Line : SimpleTrainer {
  Line() {
    setup_graph(kLineSignature, LineInput(), wrong_cost, [] { return GradientDescent(0.01); });
  }
  TrainEnd run(CallbackList callbacks, int64_t epochs = 2) {
    return train({.callbacks = std::move(callbacks), .steps_per_epoch = 3, .max_epoch = epochs});
  }
};

TEST(Inference, counts_every_sample_once_with_a_short_last_batch) {
  Line trainer;
  auto passes = make<Passes>();
  const TrainEnd end = trainer.run({InferenceRunner(samples(10).batch(4, {.remainder = true}),
                                                    {ClassificationError(), ScalarStats({"cost"}), Seen(passes)})});
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_EQ(trainer.monitors().get_latest("validation_error"), 0.4);
  const std::vector<float> all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(*passes, (Passes{all, all}));

  const double w = trainer.sess().get("line/w").at(0), b = trainer.sess().get("line/b").at(0);
  double sum = 0;
  for (int64_t i = 0; i < 10; ++i) sum += std::pow(w * static_cast<double>(i) + b - (i % 3 == 0), 2);
  EXPECT_NEAR(trainer.monitors().get_latest("validation_cost"), sum / 10, 1e-4 * sum);
  EXPECT_EQ(trainer.monitors().get_history("validation_error").size(), 2);
  trainer.monitors().check_repeatable("validation_error", "test");
}

TEST(Inference, reads_its_data_from_the_beginning_each_time) {
  Line trainer;
  auto shuffled = make<Passes>(), unknown = make<Passes>(), fed = make<Passes>();
  const auto odd = samples(11).filter([](const Datapoint& d) { return static_cast<int>(d[0].at(0)) % 2 == 1; });
  ASSERT_FALSE(odd.size());
  const TrainEnd end =
      trainer.run({InferenceRunner(samples(20).shuffle().batch(5), {Seen(shuffled)}),
                   InferenceRunner(odd.batch(2, {.remainder = true}), {Seen(unknown)}, {.tower_name = "odd"}),
                   InferenceRunner(FeedInput(samples(6).batch(3)), {Seen(fed)}, {.tower_name = "fed"})},
                  3);
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  ASSERT_EQ(shuffled->size(), 3);
  EXPECT_EQ((*shuffled)[0].size(), 20);
  EXPECT_EQ((*shuffled)[0], (*shuffled)[2]);
  EXPECT_EQ(*unknown, Passes(3, {1, 3, 5, 7, 9}));
  EXPECT_EQ(*fed, Passes(3, {0, 1, 2, 3, 4, 5})) << "an endless source is read size() times";
}

TEST(Inference, takes_any_input) {
  Line trainer;
  auto endless = make<Passes>(), finite = make<Passes>(), unknown = make<Passes>(), tensors = make<Passes>();
  const auto few = samples(6).filter([](const Datapoint& d) { return d[0].at(0) < 5; }).batch(2, {.remainder = true});
  const TrainEnd end = trainer.run(
      {InferenceRunner(QueueInput(samples(6).batch(3)), {Seen(endless)}),
       InferenceRunner(QueueInput(samples(6).batch(3), {.infinite = false}), {Seen(finite)}, {.tower_name = "finite"}),
       InferenceRunner(QueueInput(few, {.infinite = false}), {Seen(unknown)}, {.tower_name = "unknown"}),
       InferenceRunner(TensorInput(
                           [] {
                             return TensorList{constant(HostTensor::of<float>({1, 2}), "c"),
                                               constant(HostTensor::of<float>({3, 4}), "d")};
                           },
                           2),
                       {Seen(tensors)}, {.tower_name = "tensors"})});
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  const std::vector<float> all = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(*endless, Passes(2, all));
  EXPECT_EQ(*finite, Passes(2, all));
  EXPECT_EQ(*unknown, Passes(2, {0, 1, 2, 3, 4}));
  EXPECT_EQ(*tensors, Passes(2, {1, 2, 1, 2}));
}

// Weights after two epochs of a model with dropout and batch norm, whose data is random.
std::map<std::string, HostTensor> trained(CallbackList callbacks) {
  SimpleTrainer trainer;
  const std::vector<TensorSpec> signature = {{{kUnknown, 4}, f32, "x"}};
  callbacks.push_back(RunUpdateOps());
  trainer.setup_graph(
      signature, FeedInput(data::fake(signature, 40).shuffle().batch(8)),
      [](Tensor x) {
        Tensor h = batch_norm("bn", fully_connected("fc", x, {.units = 6}));
        return reduce_mean(square(dropout("drop", h, {.rate = 0.5})), {}, "cost");
      },
      [] { return Momentum(0.05); });
  const TrainEnd end = trainer.train({.callbacks = std::move(callbacks), .steps_per_epoch = 7, .max_epoch = 2});
  EXPECT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_EQ(trainer.loop().global_step, 14);
  std::map<std::string, HostTensor> values;
  for (const Variable& v : trainer.graph().collections().get(kGlobalVariables))
    values[v.handle().name()] = trainer.sess().get(v.handle());
  return values;
}

TEST(Inference, leaves_training_as_it_was) {
  const auto flow = data::fake({{{kUnknown, 4}, f32, "x"}}, 10).batch(3, {.remainder = true});
  const auto plain = trained({});
  const auto validated =
      trained({PeriodicTrigger(InferenceRunner(flow, {ScalarStats({"cost"})}), {.steps = 2, .epochs = 1})});
  ASSERT_EQ(plain.size(), validated.size());
  EXPECT_GT(plain.size(), 6);
  for (const auto& [name, value] : plain) EXPECT_TRUE(value.same_bits(validated.at(name))) << name;
}

TEST(Inference, uses_the_averages_of_batch_norm) {
  SimpleTrainer trainer;
  trainer.setup_graph(
      {{{kUnknown, 2}, f32, "x"}},
      FeedInput(data::fake({{{kUnknown, 2}, f32, "x"}}, 40, {.low = 3, .high = 5}).batch(8)),
      [](Tensor x) { return reduce_mean(square(batch_norm("bn", x)), {}, "cost"); },
      [] { return GradientDescent(0.1); });
  const auto flow = data::from_index(4, [](int64_t i, Rng&) {
    return Datapoint(HostTensor::of<float>({static_cast<float>(i), static_cast<float>(2 * i)}));
  });
  const TrainEnd end =
      trainer.train({.callbacks = {RunUpdateOps(), InferenceRunner(flow.batch(4), {ScalarStats({"cost"})})},
                     .steps_per_epoch = 5,
                     .max_epoch = 1});
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  const auto get = [&](const char* name, int64_t c) { return trainer.sess().get(name).at(c); };
  double sum = 0;
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t c = 0; c < 2; ++c) {
      const double x = static_cast<double>(i * (c + 1));
      const double normal = (x - get("bn/mean/EMA", c)) / std::sqrt(get("bn/variance/EMA", c) + 1e-5);
      sum += std::pow(get("bn/gamma", c) * normal + get("bn/beta", c), 2);
    }
  EXPECT_GT(std::abs(get("bn/mean/EMA", 0)), 1) << "the averages have moved";
  EXPECT_NEAR(trainer.monitors().get_latest("validation_cost"), sum / 8, 1e-4 * sum);
}

TEST(Inference, of_several_sets_has_prefixes) {
  Line trainer;
  const TrainEnd end = trainer.run(
      {InferenceRunner(samples(3).batch(3), {ClassificationError()}),
       InferenceRunner(samples(4).batch(2), {ClassificationError()}, {.tower_name = "TestTower", .prefix = "test"})});
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_NEAR(trainer.monitors().get_latest("validation_error"), 1 / 3.0, 1e-12);
  EXPECT_EQ(trainer.monitors().get_latest("test/validation_error"), 0.5);
}

TEST(Inference, makes_a_plan_for_each_shape_and_no_more) {
  Line trainer;
  std::vector<size_t> plans;
  CallbackFactory count({.trigger = [&](TrainContext& c) { plans.push_back(c.sess().cached_plans()); }});
  const TrainEnd end = trainer.run(
      {InferenceRunner(samples(10).batch(4, {.remainder = true}), {ClassificationError()}), std::move(count)}, 4);
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_EQ(plans, std::vector<size_t>(4, plans[0]));
}

// Needs a statistic that another callback gives.
struct Best : Callback {
  explicit Best(std::vector<double>& v) : values(v) {}
  std::vector<std::string> needs() const override { return {"validation_error"}; }
  void trigger() override { values.push_back(monitors().get_latest("validation_error")); }
  std::vector<double>& values;
};

TEST(Inference, comes_before_whoever_needs_its_scalars) {
  Line trainer;
  std::vector<double> values;
  const TrainEnd end = trainer.run(
      {Best(values), PeriodicTrigger(InferenceRunner(samples(4).batch(2), {ClassificationError()}), {.epochs = 1})});
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_EQ(values, (std::vector<double>{0.5, 0.5}));
}

struct CountRuns : RunHook {
  explicit CountRuns(int& n) : runs(n) {}
  void before_run(RunContext& run) override { EXPECT_TRUE(run.original_fetches().list().empty()); }
  void after_run(RunContext&) override { ++runs; }
  int& runs;
};

TEST(Inference, has_hooks_of_its_own) {
  Line trainer;
  int runs = 0;
  auto runner = make<InferenceRunner>(samples(6).batch(2), std::vector<Ref<Inferencer>>{ClassificationError()});
  runner->register_hook(CountRuns(runs));
  EXPECT_EQ(trainer.run({runner}).reason, TrainEnd::finished);
  EXPECT_EQ(runs, 6) << "three datapoints in each of two epochs";
}

// One input instead of two, and an output that training has not.
TowerFunc size_of_prediction() {
  const auto f = [](Tensor only) {
    const auto w = get_variable("line/w", {.initializer = zeros()});
    return reduce_mean(square(only * w), {}, "size");
  };
  return TowerFunc(f, {{{kUnknown}, f32, "only"}});
}

TEST(Inference, builds_another_tower_function_on_the_variables_of_training) {
  Line trainer;
  const DataFlowRef ones = data::from_list({Datapoint(HostTensor::of<float>({1, 1}))});
  const TrainEnd end =
      trainer.run({InferenceRunner(ones, {ScalarStats({"size"})}, {.tower_func = size_of_prediction()}),
                   InferenceRunner(samples(10).batch(5), {ScalarStats({"cost"})}, {.tower_name = "Usual"})});
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  const double w = trainer.sess().get("line/w").at(0);
  EXPECT_NE(w, 0);
  EXPECT_NEAR(trainer.monitors().get_latest("validation_size"), w * w, 1e-6);
}

struct Signals : Inferencer {
  std::vector<std::string> fetches() const override { return {}; }
  void on_fetches(const HostTensors&) override { std::raise(SIGINT); }
  Scalars after_inference() override { return {{"never", 1}}; }
};

TEST(Inference, is_left_without_results_when_a_signal_comes) {
  Line trainer;
  const TrainEnd end = trainer.train({.callbacks = {InferenceRunner(samples(6).batch(2), {Signals()})},
                                      .steps_per_epoch = 3,
                                      .max_epoch = 2,
                                      .handle_signals = true});
  EXPECT_EQ(end.reason, TrainEnd::interrupted);
  EXPECT_FALSE(trainer.monitors().find_latest("never"));
}

struct Taken : Monitor {
  explicit Taken(std::shared_ptr<std::string> t) : text(std::move(t)) {}
  void process_image(std::string_view name, const HostTensor& image) override {
    *text += str(name, " ", image.shape(), " ", image.at(0), "\n");
  }
  void process_text(std::string_view name, std::string_view t) override { *text += str(name, "\n", t); }
  std::shared_ptr<std::string> text;
};

TEST(Inference, shows_a_confusion_matrix) {
  Line trainer;
  auto text = make<std::string>();
  const TrainEnd end =
      trainer.train({.callbacks = {InferenceRunner(samples(6).batch(3),
                                                   {ConfusionMatrix("incorrect", "y", {.class_names = {"no", "yes"}})},
                                                   {.prefix = "test"})},
                     .monitors = std::vector<Ref<Monitor>>{Taken(text)},
                     .steps_per_epoch = 1,
                     .max_epoch = 1});
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_EQ(trainer.monitors().get_latest("test/validation_accuracy"), 1);
  EXPECT_EQ(
      *text,
      "test/validation_confusion [1, 256, 256, 1] 255\ntest/validation_confusion\n| label \\ prediction | no | yes |\n"
      "|---|---|---|\n| no | 4 | 0 |\n| yes | 0 | 2 |");
}

}  // namespace
}  // namespace martello
