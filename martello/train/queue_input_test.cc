// QueueInput and its kin as trainers use them.
#include <martello/base/internal/test_text.h>
#include <martello/input/queue_input.h>
#include <martello/input/staging_input.h>
#include <martello/loop/monitors.h>
#include <martello/train/internal/test_actor.h>
#include <martello/train/internal/test_input.h>

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <stdexcept>
#include <thread>

namespace martello {
namespace {

using namespace testing;
using Values = std::vector<float>;

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST(QueueInput, gives_one_data_pass_after_the_other) {
  const InputRun run = run_on(QueueInput(numbers(3)), 8);
  EXPECT_EQ(run.end.reason, TrainEnd::finished);
  EXPECT_EQ(run.values, (Values{0, 1, 2, 0, 1, 2, 0, 1}));
}

TEST(QueueInput, a_shuffled_flow_has_another_order_in_each_pass_and_the_same_with_the_same_seed) {
  const auto values = [](uint64_t seed) {
    return run_on(QueueInput(numbers(20).shuffle(), {.capacity = 7, .seed = seed}), 40).values;
  };
  const Values first = values(1);
  EXPECT_EQ(values(1), first);
  EXPECT_NE(values(2), first);
  EXPECT_NE(Values(first.begin(), first.begin() + 20), Values(first.begin() + 20, first.end()));
}

TEST(QueueInput, every_tower_takes_a_datapoint_of_its_own) {
  for (const int64_t staged : {0, 1, 3}) {
    Values seen;
    SingleCostTrainer trainer(SumMode(3));
    Ref<InputSource> input = QueueInput(numbers(100), {.capacity = 4});
    if (staged > 0) input = StagingInput(input, staged);
    trainer.setup_graph(kNumberSignature, input, number_cost, [] { return GradientDescent(0.01); });
    const TrainEnd end = trainer.train(
        {.callbacks = {Seen(seen, {"tower0/x", "tower1/x", "tower2/x"})}, .steps_per_epoch = 5, .max_epoch = 2});
    EXPECT_EQ(end.reason, TrainEnd::finished) << end.str();
    Values expected;
    for (int i = 0; i < 30; ++i) expected.push_back(static_cast<float>(i));
    EXPECT_EQ(seen, expected) << "tower i of step s takes datapoint 3 s + i";
  }
}

TEST(QueueInput, the_end_of_a_finite_one_stops_training) {
  for (const int64_t staged : {0, 2}) {
    Ref<InputSource> input = QueueInput(numbers(3), {.infinite = false});
    EXPECT_EQ(input->size(), 3);
    if (staged > 0) input = StagingInput(input, staged);
    const InputRun run = run_on(input, 10);
    EXPECT_EQ(run.end.reason, TrainEnd::stopped);
    EXPECT_CONTAINS(run.end.message, "the data of 'QueueInput' is at its end");
    EXPECT_EQ(run.values, (Values{0, 1, 2}));
  }
}

TEST(QueueInput, datapoints_that_do_not_fill_all_towers_are_left_and_told) {
  for (const int64_t staged : {0, 2}) {
    Ref<InputSource> input = QueueInput(numbers(5), {.infinite = false});
    if (staged > 0) input = StagingInput(input, staged);
    SingleCostTrainer trainer(SumMode(2));
    trainer.setup_graph(kNumberSignature, input, number_cost, [] { return GradientDescent(0.01); });
    const TrainEnd end = trainer.train({.steps_per_epoch = 9, .max_epoch = 1});
    EXPECT_EQ(end.reason, TrainEnd::stopped);
    EXPECT_CONTAINS(end.message, "1 of them are left, too few for 2 towers");
    EXPECT_EQ(trainer.loop().global_step, 2);
  }
}

DataFlowRef failing_at(float bad) {
  return numbers(50).map(
      [bad](Datapoint d) {
        if (d[0].scalar<float>() == bad) throw std::runtime_error("broken file");
        return d;
      },
      {.name = "decode"});
}

TEST(QueueInput, an_error_of_the_flow_fails_the_step_that_would_have_taken_the_datapoint) {
  for (const auto& flow : {failing_at(5), failing_at(5).prefetch(), failing_at(5).shuffle_locally(1)})
    for (const int64_t staged : {0, 3}) {
      Ref<InputSource> input = QueueInput(flow);
      if (staged > 0) input = StagingInput(input, staged);
      const InputRun run = run_on(input, 10);
      EXPECT_EQ(run.end.reason, TrainEnd::failed);
      for (const char* part : {"broken file", "in data stage map 'decode'", "callback 'QueueInput'"})
        EXPECT_CONTAINS(run.end.message, part);
      EXPECT_EQ(run.global_step, 5);
      EXPECT_EQ(run.values, (Values{0, 1, 2, 3, 4}));
    }
}

TEST(QueueInput, what_does_not_fit_the_signature_is_refused_before_the_first_step) {
  const std::vector<TensorSpec> two = {{{kUnknown, 2}, f32, "image"}, {{kUnknown}, i32, "label"}};
  const HostTensor image({4, 2}, f32), label({4}, i32);
  struct Case {
    Datapoint datapoint;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases = {
      {Datapoint(image), {"1 components (f32[4, 2])", "2 inputs (image f32[?, 2], label i32[?])"}},
      {Datapoint(image, HostTensor({4}, i64)), {"component 1 is i64[4]", "input 'label'", "i32[?]"}},
      {Datapoint(HostTensor({4, 3}, f32), label), {"component 0 is f32[4, 3]", "input 'image'", "f32[?, 2]"}},
      {Datapoint(HostTensor({2}, f32), label), {"component 0 is f32[2]", "f32[?, 2]"}},
      {Datapoint().set("image", image).set("labels", label), {"no component for input 'label'", "labels"}}};
  for (const Case& c : cases) {
    SimpleTrainer trainer;
    trainer.setup_graph(
        two, QueueInput(data::from_list({c.datapoint})),
        [](Tensor x, Tensor) { return reduce_sum(x * get_variable("w", {.initializer = zeros()})); },
        [] { return GradientDescent(0.1); });
    const TrainEnd end = trainer.train({.steps_per_epoch = 3, .max_epoch = 1});
    EXPECT_EQ(end.reason, TrainEnd::failed);
    for (const std::string& part : c.parts) EXPECT_CONTAINS(end.message, part);
    EXPECT_CONTAINS(end.message, "[queue_input] datapoint 0 of from_list");
    EXPECT_CONTAINS(end.message, "before_train");
    EXPECT_EQ(trainer.loop().global_step, 0);
  }
}

TEST(QueueInput, a_later_datapoint_that_does_not_fit_is_named_too) {
  const auto flow =
      numbers(20).map([](Datapoint d) { return d[0].scalar<float>() == 7 ? Datapoint(HostTensor({2}, f32)) : d; });
  const InputRun run = run_on(QueueInput(flow), 10);
  EXPECT_EQ(run.end.reason, TrainEnd::failed);
  for (const char* part : {"[queue_input] datapoint 7 of ", "component 0 is f32[2]", "input 'x'", "is f32[]"})
    EXPECT_CONTAINS(run.end.message, part);
  EXPECT_EQ(run.global_step, 7);
}

TEST(QueueInput, a_flow_that_cannot_go_on_for_ever_is_an_error) {
  EXPECT_CONTAINS(error_of([] { QueueInput(numbers(0)); }), "is empty");
  const InputRun empty = run_on(QueueInput(generated_numbers(0)), 10);
  EXPECT_EQ(empty.end.reason, TrainEnd::failed);
  EXPECT_CONTAINS(empty.end.message, "data pass 0");
  EXPECT_EQ(empty.global_step, 0);
  const auto once = data::from_generator([](Pass pass) -> Generator<Datapoint> {
    if (pass.number == 0) co_yield Datapoint(1.f);
  });
  const InputRun run = run_on(QueueInput(once), 10);
  EXPECT_EQ(run.end.reason, TrainEnd::failed);
  for (const char* part : {"data pass 1", "gave no datapoint", "from_generator"})
    EXPECT_CONTAINS(run.end.message, part);
  EXPECT_EQ(run.global_step, 1);
}

TEST(QueueInput, wrong_options_are_refused) {
  EXPECT_CONTAINS(error_of([] { QueueInput(DataFlowRef{}); }), "[queue_input] the data flow is null");
  EXPECT_CONTAINS(error_of([] { QueueInput(numbers(2), {.capacity = 0}); }), "capacity is 0");
  EXPECT_CONTAINS(error_of([] { QueueInput(numbers(2), {.buffer_bytes = 0}); }), "0 bytes");
  QueueInput input(numbers(2));
  EXPECT_CONTAINS(error_of([&] { input.setup({}); }), "no input to feed");
  EXPECT_CONTAINS(error_of([&] { input.get_input_tensors(); }), "before setup()");
}

TEST(QueueInput, components_may_have_keys) {
  const auto flow = numbers(4).map([](Datapoint d) { return Datapoint().set("unused", 1).set("x", d[0]); });
  EXPECT_EQ(run_on(QueueInput(flow), 3).values, (Values{0, 1, 2}));
}

// Reads ahead no further than it may.
TEST(QueueInput, is_bounded_in_datapoints_and_bytes) {
  for (const int64_t capacity : {5, 1000}) {
    auto made = std::make_shared<std::atomic<int>>(0);
    const auto flow = numbers(1000).map([made](Datapoint) {
      ++*made;
      return Datapoint(HostTensor({1000}, f32));
    });
    const std::vector<TensorSpec> signature = {{{1000}, f32, "x"}};
    Actor actor;
    actor.in_step = [made](Actor& a) {
      sleep_ms(20);
      const auto done = static_cast<int>(a.see().loop().global_step);
      EXPECT_LE(*made - done, 5) << "five times 4256 bytes are below 22000";
      EXPECT_GE(*made - done, 1);
    };
    const InputRun run = run_on(QueueInput(flow, {.capacity = capacity, .buffer_bytes = 22000}), 10,
                                {.callbacks = {std::move(actor)}}, signature);
    EXPECT_EQ(run.end.reason, TrainEnd::finished) << run.end.str();
  }
}

TEST(QueueInput, how_full_it_was_is_a_volatile_scalar) {
  struct Sizes : Monitor {
    explicit Sizes(std::map<std::string, double>& s) : sizes(s) {}
    void process_volatile(std::string_view name, double value) override { sizes[std::string(name)] = value; }
    std::map<std::string, double>& sizes;
  };
  std::map<std::string, double> fast, slow;
  Actor actor;
  actor.in_step = [](Actor&) { sleep_ms(2); };
  run_on(QueueInput(numbers(9), {.capacity = 10}), 40, {.callbacks = {std::move(actor)}, .monitors = {{Sizes(fast)}}});
  const auto late = numbers(9).map([](Datapoint d) {
    sleep_ms(3);
    return d;
  });
  run_on(QueueInput(late, {.capacity = 10}), 20, {.monitors = {{Sizes(slow)}}});
  EXPECT_GE(fast.at("QueueInput/queue_size"), 5);
  EXPECT_LE(fast.at("QueueInput/queue_size"), 10);
  EXPECT_LT(slow.at("QueueInput/queue_size"), 2);
}

TEST(BatchQueueInput, makes_batches_across_data_passes) {
  const std::vector<TensorSpec> signature = {{{kUnknown}, f32, "x"}};
  const auto input = make<BatchQueueInput>(numbers(5), 3);
  EXPECT_EQ(input->size(), 1);
  const InputRun run = run_on(input, 3, {}, signature);
  EXPECT_EQ(run.values, (Values{0, 1, 2, 3, 4, 0, 1, 2, 3}));
}

TEST(BatchQueueInput, needs_known_dimensions_behind_the_batch) {
  BatchQueueInput input(numbers(5), 3);
  EXPECT_CONTAINS(error_of([&] { input.setup({{{4}, f32, "x"}}); }), "batches of 3 but input 'x' is f32[4]");
  EXPECT_CONTAINS(error_of([&] { input.setup({{{}, f32, "x"}}); }), "input 'x' is f32[]");
  EXPECT_CONTAINS(error_of([&] { input.setup({{{kUnknown, kUnknown}, f32, "x"}}); }), "dimension 1 of input 'x'");
  EXPECT_CONTAINS(error_of([] { BatchQueueInput(numbers(5), 0); }), "a batch of 0 datapoints");
}

}  // namespace
}  // namespace martello
