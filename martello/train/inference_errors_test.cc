// Wrong use of InferenceRunner, and data that fails while it runs.
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/inference/inference_runner.h>
#include <martello/callbacks/inference/inferencers.h>
#include <martello/callbacks/wrappers.h>
#include <martello/data/sources.h>
#include <martello/input/feed_input.h>
#include <martello/input/queue_input.h>
#include <martello/input/staging_input.h>
#include <martello/train/internal/test_actor.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;
using testing::Log;

DataFlowRef samples(int64_t n) {
  return data::from_index(n, [](int64_t i, Rng&) { return Datapoint(static_cast<float>(i), 0.f); }).batch(2);
}

// Says that it has another number of datapoints than it gives.
struct Liar : DataFlow {
  Liar(DataFlowRef f, int64_t s) : flow(std::move(f)), said(s) {}
  std::unique_ptr<DataIterator> iterate(Pass pass) const override { return flow->iterate(std::move(pass)); }
  std::optional<int64_t> size() const override { return said; }
  DataFlowRef flow;
  int64_t said;
};

struct Nothing : Inferencer {
  std::vector<std::string> fetches() const override { return {}; }
  void on_fetches(const HostTensors&) override {}
  Scalars after_inference() override { return {}; }
};

struct Line : SimpleTrainer {
  Line() {
    setup_graph(kLineSignature, LineInput(), line_cost, [] { return GradientDescent(0.01); });
  }
  TrainEnd run(CallbackList callbacks) {
    return train({.callbacks = std::move(callbacks), .steps_per_epoch = 2, .max_epoch = 2});
  }
};

// What train() throws before the first step.
std::string refusal(CallbackList callbacks) {
  Line trainer;
  const std::string text = error_of([&] { static_cast<void>(trainer.run(std::move(callbacks))); });
  EXPECT_EQ(trainer.loop().global_step, 0);
  return text;
}

TEST(InferenceErrors, two_runners_need_different_towers) {
  const std::string text =
      refusal({InferenceRunner(samples(4), {Nothing()}), InferenceRunner(samples(4), {Nothing()})});
  EXPECT_CONTAINS(text, "[inference 'InferenceTower'] there is a tower 'InferenceTower' already");
  EXPECT_CONTAINS(text, ".tower_name");
  const TowerFunc other(line_cost, kLineSignature);
  EXPECT_CONTAINS(refusal({InferenceRunner(samples(4), {Nothing()}, {.tower_func = other}),
                           InferenceRunner(samples(4), {Nothing()}, {.tower_func = other})}),
                  "there is a tower 'InferenceTower' already");
}

TEST(InferenceErrors, another_tower_function_makes_no_variables) {
  const auto f = [](Tensor x, Tensor y) { return line_cost(x, y * get_variable("new", {.initializer = ones()})); };
  EXPECT_CONTAINS(refusal({InferenceRunner(samples(4), {Nothing()}, {.tower_func = TowerFunc(f, kLineSignature)})}),
                  "'new'");
}

TEST(InferenceErrors, two_values_under_one_name_are_refused) {
  const std::string text = refusal(
      {InferenceRunner(samples(4), {ScalarStats({"cost"})}),
       PeriodicTrigger(InferenceRunner(samples(4), {ScalarStats({"cost"})}, {.tower_name = "Two"}), {.epochs = 1})});
  for (const char* part :
       {"[inference 'Two'] gives the scalar 'validation_cost'", "inference 'InferenceTower'", ".prefix"})
    EXPECT_CONTAINS(text, part);
  const std::string one = error_of<InvalidArgument>([] {
    InferenceRunner(samples(4), {ScalarStats({"cost"}), ScalarStats({"cost"})});
  });
  for (const char* part : {"two of its inferencers", "'validation_cost'", "'ScalarStats'", "inference_errors_test.cc"})
    EXPECT_CONTAINS(one, part);
}

TEST(InferenceErrors, a_tensor_that_is_missing_or_of_the_wrong_shape_is_named) {
  const std::string missing = refusal({InferenceRunner(samples(4), {ClassificationError("incorect")})});
  for (const char* part :
       {"'incorect'", "for inferencer 'ClassificationError'", "in setup_graph of callback 'InferenceRunner'"})
    EXPECT_CONTAINS(missing, part);
  EXPECT_CONTAINS(refusal({InferenceRunner(samples(4), {ScalarStats({"prediction"})})}),
                  "[ScalarStats] 'InferenceTower/prediction' is f32[?], not a scalar");
  EXPECT_CONTAINS(refusal({InferenceRunner(samples(4), {ClassificationError("cost")})}), "not a vector");
}

TEST(InferenceErrors, parts_that_are_missing_are_refused_where_it_is_made) {
  const auto of = [](auto&& make_it) {
    const std::string text = error_of<InvalidArgument>(make_it);
    EXPECT_CONTAINS(text, "inference_errors_test.cc");
    return text;
  };
  EXPECT_CONTAINS(of([] { InferenceRunner(DataFlowRef(), {Nothing()}); }), "its data flow is null");
  EXPECT_CONTAINS(of([] { InferenceRunner(Ref<InputSource>(), {Nothing()}); }), "its input is null");
  EXPECT_CONTAINS(of([] { InferenceRunner(StagingInput(QueueInput(samples(4))), {Nothing()}); }), "is staged");
  EXPECT_CONTAINS(of([] { InferenceRunner(samples(4), {}); }), "has no inferencer");
  EXPECT_CONTAINS(of([] { InferenceRunner(samples(4), {Ref<Inferencer>()}); }), "its inferencer 0 is null");
  EXPECT_CONTAINS(of([] { InferenceRunner(samples(4), {Nothing()}, {.tower_name = ""}); }), "has no name");
  EXPECT_CONTAINS(of([] { InferenceRunner(samples(4), {Nothing()}).register_hook(nullptr); }), "null hook");
}

TEST(InferenceErrors, a_trainer_without_towers_cannot_infer) {
  testing::Counting trainer;
  const std::string text = error_of<FailedPrecondition>([&] {
    static_cast<void>(
        trainer.train({.callbacks = {InferenceRunner(samples(4), {Nothing()})}, .steps_per_epoch = 1, .max_epoch = 1}));
  });
  EXPECT_CONTAINS(text, "no tower function");
  EXPECT_EQ(trainer.steps, 0);
}

TEST(InferenceErrors, data_known_to_be_empty_is_refused) {
  EXPECT_CONTAINS(refusal({InferenceRunner(Liar(samples(2), 0), {Nothing()})}), "its data has no datapoint");
}

TEST(InferenceErrors, data_that_turns_out_to_be_empty_gives_no_results) {
  Log log;
  Line trainer;
  const auto none = samples(8).filter([](const Datapoint&) { return false; });
  EXPECT_EQ(trainer.run({InferenceRunner(none, {ScalarStats({"cost"})})}).reason, TrainEnd::finished);
  EXPECT_FALSE(trainer.monitors().find_latest("validation_cost"));
  EXPECT_TRUE(std::any_of(log.lines.begin(), log.lines.end(),
                          [](const std::string& l) { return l.find("gave no datapoint") != std::string::npos; }));
}

TEST(InferenceErrors, an_error_of_the_data_fails_the_run_and_says_where) {
  Line trainer;
  const auto flow = samples(8).map([](Datapoint d) {
    if (d[0].at(0) == 4) throw InvalidArgument("[decode] broken file.");
    return d;
  });
  const TrainEnd end = trainer.run({InferenceRunner(flow, {Nothing()})});
  EXPECT_EQ(end.reason, TrainEnd::failed);
  for (const char* part : {"[decode] broken file.", "in datapoint 2 of inference 'InferenceTower'",
                           "in trigger_epoch of callback 'InferenceRunner'"})
    EXPECT_CONTAINS(end.message, part);
  EXPECT_EQ(trainer.loop().global_step, 2);
}

TEST(InferenceErrors, data_that_does_not_fit_fails_before_the_first_step) {
  const auto flow = data::from_index(4, [](int64_t i, Rng&) { return Datapoint(static_cast<float>(i), i); }).batch(2);
  Line trainer;
  const TrainEnd end = trainer.run({InferenceRunner(flow, {Nothing()})});
  EXPECT_EQ(end.reason, TrainEnd::failed);
  for (const char* part : {"i64[2]", "f32[?]", "in the rehearsal of inference 'InferenceTower', before training"})
    EXPECT_CONTAINS(end.message, part);
  EXPECT_EQ(trainer.loop().global_step, 0);
  Line later;
  EXPECT_EQ(later.run({InferenceRunner(flow, {Nothing()}, {.rehearse = false})}).reason, TrainEnd::failed);
  EXPECT_EQ(later.loop().global_step, 2);
}

TEST(InferenceErrors, a_wrong_size_fails_the_run) {
  for (const int64_t said : {3, 5}) {
    Line trainer;
    const TrainEnd end = trainer.run({InferenceRunner(Liar(samples(8), said), {Nothing()})});
    EXPECT_EQ(end.reason, TrainEnd::failed);
    EXPECT_CONTAINS(end.message, str("gave 4 datapoints but says that it has ", said));
  }
  Line trainer;
  const TrainEnd end = trainer.run({InferenceRunner(FeedInput(Liar(samples(8), 5), {.infinite = false}), {Nothing()})});
  EXPECT_CONTAINS(end.message, "gave 4 datapoints but says that it has 5");
}

struct Stops : Nothing {
  void on_fetches(const HostTensors&) override { throw StopTraining("good enough"); }
};
struct Requests : RunHook {
  void after_run(RunContext& run) override { run.request_stop(); }
};

TEST(InferenceErrors, an_inferencer_or_hook_may_stop_training) {
  Line trainer;
  const TrainEnd end = trainer.run({InferenceRunner(samples(4), {Stops()})});
  EXPECT_EQ(end.reason, TrainEnd::stopped);
  EXPECT_EQ(end.message, "good enough");
  Line other;
  auto runner = make<InferenceRunner>(samples(4), std::vector<Ref<Inferencer>>{Nothing()});
  runner->register_hook(Requests());
  const TrainEnd requested = other.run({runner});
  EXPECT_EQ(requested.reason, TrainEnd::stopped);
  EXPECT_CONTAINS(requested.message, "a hook of inference 'InferenceTower'");
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { runner->register_hook(Requests()); }), "after training has begun");
}

struct Twice : Nothing {
  Scalars after_inference() override { return {{"a", 1}}; }
};

TEST(InferenceErrors, scalars_that_were_not_declared_are_compared_too) {
  Line trainer;
  const TrainEnd end = trainer.run({InferenceRunner(samples(4), {Twice(), Twice()})});
  EXPECT_EQ(end.reason, TrainEnd::failed);
  EXPECT_CONTAINS(end.message, "two of its inferencers give the scalar 'a'; the second is 'Twice'");
}

struct Fails : Nothing {
  void on_fetches(const HostTensors& v) override { v.at(3); }
};

TEST(InferenceErrors, errors_of_inferencers_are_not_lost) {
  Line trainer;
  EXPECT_EQ(trainer.run({InferenceRunner(samples(4), {Fails()})}).reason, TrainEnd::failed);
  Line other;
  const TrainEnd end = other.run({InferenceRunner(samples(2), {BinaryClassificationStats("x", "y")})});
  EXPECT_EQ(end.reason, TrainEnd::finished) << end.message;
  Line third;
  const TrainEnd bad = third.run({InferenceRunner(samples(8), {BinaryClassificationStats("x", "y")})});
  for (const char* part : {"'x' has a 2", "on_fetches of inferencer 'BinaryClassificationStats'"})
    EXPECT_CONTAINS(bad.message, part);
}

}  // namespace
}  // namespace martello
