// Sources without a queue, and what trainers make of the data they get.
#include <martello/base/internal/test_text.h>
#include <martello/base/state.h>
#include <martello/input/default_prefetch.h>
#include <martello/input/feed_input.h>
#include <martello/input/queue_input.h>
#include <martello/input/remap_input_source.h>
#include <martello/input/staging_input.h>
#include <martello/input/tensor_input.h>
#include <martello/ops/assign.h>
#include <martello/ops/cast.h>
#include <martello/ops/random.h>
#include <martello/optim/global_step.h>
#include <martello/train/internal/test_actor.h>
#include <martello/train/internal/test_input.h>
#include <martello/train/launch.h>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace martello {
namespace {

using namespace testing;
using Values = std::vector<float>;

const std::vector<TensorSpec> kPairs = {{{kUnknown, 2}, f32, "x"}, {{kUnknown}, f32, "y"}};
Tensor pair_cost(Tensor x, Tensor y) {
  const auto w = get_variable("w", {.initializer = zeros()});
  return reduce_sum(x * w) + reduce_sum(y * w);
}
TrainEnd train_pairs(Ref<InputSource> input, CallbackList callbacks = {}) {
  SimpleTrainer trainer;
  trainer.setup_graph(kPairs, std::move(input), pair_cost, [] { return GradientDescent(0.1); });
  return trainer.train({.callbacks = std::move(callbacks), .steps_per_epoch = 3, .max_epoch = 1});
}

// The number of runs done before this one, computed by the graph.
Tensor counted() {
  const Variable count = raw_variable("count", {.shape = {}, .initializer = zeros(), .trainable = false});
  Graph::current().collections().add(kUpdateOps, assign_add(count, 1.0));
  return count;
}

TEST(TensorInput, is_computed_in_every_run_and_for_every_tower) {
  Values seen;
  int calls = 0;
  SingleCostTrainer trainer(SumMode(2));
  trainer.setup_graph({{{}, f32, "x"}}, TensorInput([&] { return constant(static_cast<double>(++calls)); }, 7),
                      number_cost, [] { return GradientDescent(0.1); });
  EXPECT_EQ(calls, 2);
  const TrainEnd end = trainer.train(
      {.callbacks = {Seen(seen, {"tower0/inputs/x", "tower1/inputs/x"})}, .steps_per_epoch = 2, .max_epoch = 1});
  EXPECT_EQ(end.reason, TrainEnd::finished) << end.str();
  EXPECT_EQ(seen, (Values{1, 2, 1, 2}));
}

TEST(TensorInput, what_does_not_fit_the_signature_is_refused_when_the_tower_is_built) {
  const auto refused = [](std::function<TensorList()> f) {
    return error_of([&] { (void)train_pairs(TensorInput(std::move(f))); });
  };
  EXPECT_CONTAINS(refused([] { return TensorList{constant(1)}; }), "1 tensors but the signature has 2 inputs");
  EXPECT_CONTAINS(refused([] {
                    return TensorList{random_uniform({4, 3}), random_uniform({4})};
                  }),
                  "f32[4, 3] but input 'x' of the signature is f32[?, 2]");
  EXPECT_CONTAINS(refused([] {
                    return TensorList{random_uniform({4, 2}), cast(random_uniform({4}), i32)};
                  }),
                  "i32[4] but input 'y'");
  EXPECT_CONTAINS(refused([] { return TensorList{random_uniform({4, 2}), Tensor()}; }), "input 'y' is null");
  EXPECT_CONTAINS(error_of([] { TensorInput(std::function<TensorList()>()); }), "its function is empty");
  EXPECT_CONTAINS(error_of([] { TensorInput([] { return TensorList(); }, 0); }), "size of 0");
}

TEST(DummyConstantInput, trains_on_zeros_of_the_given_shapes) {
  const Log log;
  EXPECT_EQ(train_pairs(DummyConstantInput({{4, 2}, {4}})).reason, TrainEnd::finished);
  EXPECT_EQ(run_on(DummyConstantInput(), 2).values, (Values{0, 0})) << "the signature's, where they are known";
  EXPECT_CONTAINS(error_of([] { (void)train_pairs(DummyConstantInput()); }), "input 'x' is f32[?, 2]");
  EXPECT_CONTAINS(error_of([] {
                    (void)train_pairs(DummyConstantInput({Shape{4, 2}}));
                  }),
                  "1 shapes but the signature has 2");
  EXPECT_CONTAINS(error_of([] {
                    (void)train_pairs(DummyConstantInput({{4, 3}, {4}}));
                  }),
                  "[4, 3] but the signature has");
}

TEST(StagingInput, tensors_are_those_of_the_steps_before) {
  for (const int64_t steps : {1, 3}) {
    Values seen;
    SimpleTrainer trainer;
    trainer.setup_graph(kNumberSignature, StagingInput(TensorInput([] { return counted(); }), steps), number_cost,
                        [] { return GradientDescent(0.1); });
    const TrainEnd end = trainer.train({.callbacks = {Seen(seen, {"inputs/x"})},
                                        .extra_callbacks = default_callbacks(),
                                        .steps_per_epoch = 5,
                                        .max_epoch = 1});
    EXPECT_EQ(end.reason, TrainEnd::finished) << end.str();
    Values expected;
    for (int i = 0; i < 5; ++i) expected.push_back(static_cast<float>(std::max<int64_t>(0, i - steps)));
    EXPECT_EQ(seen, expected) << "the first values were computed before the first run";
  }
}

TEST(StagingInput, what_cannot_be_staged_is_refused) {
  EXPECT_CONTAINS(error_of([] { StagingInput(Ref<InputSource>()); }), "its input is null");
  EXPECT_CONTAINS(error_of([] { StagingInput(QueueInput(numbers(3)), 0); }), "stages 0 steps");
  EXPECT_CONTAINS(error_of([] { StagingInput(make<StagingInput>(QueueInput(numbers(3)))); }), "is a StagingInput");
  EXPECT_CONTAINS(error_of([] { run_on(StagingInput(FeedInput(numbers(3))), 2); }), "'x' is fed from outside");
}

TEST(RemapInputSource, gives_the_named_inputs_and_leaves_placeholders_for_the_others) {
  const auto values =
      data::from_index(4, [](int64_t i, Rng&) { return Datapoint(HostTensor::full({3}, f32, double(i))); });
  Values seen;
  struct Other : Callback {
    void setup_graph() override { x_ = context().get_tensor("x"); }
    void before_run(RunContext& run) override { run.feed(x_, HostTensor({3, 2}, f32)); }
    Tensor x_;
  };
  const Ref<InputSource> input = remap_input_source(QueueInput(values), {"y"});
  EXPECT_EQ(input->size(), 4);
  EXPECT_EQ(train_pairs(input, {Other(), Seen(seen, {"y"})}).reason, TrainEnd::finished);
  EXPECT_EQ(seen, (Values{0, 0, 0, 1, 1, 1, 2, 2, 2}));
}

TEST(RemapInputSource, wrong_names_are_refused) {
  const auto source = [] { return QueueInput(numbers(3)); };
  EXPECT_CONTAINS(error_of([&] { (void)train_pairs(remap_input_source(source(), {"yy"})); }), "no input 'yy' but x, y");
  EXPECT_CONTAINS(error_of([&] { remap_input_source(source(), {"y", "y"}); }), "names input 'y' twice");
  EXPECT_CONTAINS(error_of([&] { remap_input_source(source(), {}); }), "names no input");
  EXPECT_CONTAINS(error_of([&] { remap_input_source(Ref<InputSource>(), {"y"}); }), "input is null");
}

template <class T>
bool is(const Ref<InputSource>& input) {
  return dynamic_cast<const T*>(input.get()) != nullptr;
}

TEST(DefaultPrefetch, a_flow_becomes_a_queue_and_a_queue_for_several_devices_is_staged) {
  EXPECT_TRUE(is<QueueInput>(apply_default_prefetch(numbers(3), {""})));
  EXPECT_TRUE(is<QueueInput>(apply_default_prefetch(numbers(3), {"cpu:0"})));
  EXPECT_TRUE(is<StagingInput>(apply_default_prefetch(numbers(3), {"cuda:0"})));
  const Ref<InputSource> staged = apply_default_prefetch(numbers(3), {"cpu:0", "cpu:1"});
  EXPECT_TRUE(is<StagingInput>(staged));
  EXPECT_EQ(apply_default_prefetch(staged, {"cpu:0", "cpu:1"}).get(), staged.get());
  const Ref<InputSource> feed = FeedInput(numbers(3));
  EXPECT_EQ(apply_default_prefetch(feed, {"cpu:0", "cpu:1"}).get(), feed.get());
}

struct NumberModel : ModelDesc {
  std::vector<TensorSpec> inputs() const override { return kNumberSignature; }
  Tensor build_graph(TensorList in) const override { return number_cost(in["x"]); }
  OptimizerRef optimizer() const override { return GradientDescent(0.1); }
};

TEST(DefaultPrefetch, trainers_read_a_flow_through_a_queue) {
  const TrainConfig config{.model = NumberModel(), .dataflow = numbers(5), .max_epoch = 1};
  EXPECT_TRUE(is<QueueInput>(config.get_input()));
  Values seen;
  TrainConfig run = config;
  run.callbacks = {Seen(seen)};
  EXPECT_EQ(launch_train_with_config(run, SimpleTrainer()).reason, TrainEnd::finished);
  EXPECT_EQ(seen, (Values{0, 1, 2, 3, 4}));
  seen.clear();
  run.callbacks = {Seen(seen)};
  EXPECT_EQ(QueueInputTrainer(run).train().reason, TrainEnd::finished);
  EXPECT_EQ(seen, (Values{0, 1, 2, 3, 4}));
  seen.clear();
  run.callbacks = {Seen(seen, {"tower0/x", "tower1/x"})};
  EXPECT_EQ(launch_train_with_config(run, SingleCostTrainer(SumMode(2))).reason, TrainEnd::finished);
  EXPECT_EQ(seen, (Values{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
}

// Data and steps of a few milliseconds each: a queue makes the one while the other runs.
TEST(DefaultPrefetch, is_faster_than_feeding) {
  const auto nap = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  const DataFlowRef slow = numbers(20).map([&](Datapoint dp) {
    nap();
    return dp;
  });
  const auto seconds_with = [&](const Ref<InputSource>& input) {
    Actor step;
    step.in_step = [&](Actor&) { nap(); };
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(run_on(input, 20, {.callbacks = {std::move(step)}}).end.reason, TrainEnd::finished);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double fed = 0, queued = 0;
  for (int attempt = 0; attempt < 5 && queued >= 0.75 * fed; ++attempt) {
    fed = seconds_with(FeedInput(slow));
    queued = seconds_with(apply_default_prefetch(slow, {""}));
  }
  EXPECT_LT(queued, 0.75 * fed);
}

}  // namespace
}  // namespace martello
