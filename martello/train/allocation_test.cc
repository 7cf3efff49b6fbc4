// A step of training allocates nothing, whatever hooks there are.
#include <martello/callbacks/wrappers.h>
#include <martello/data/sources.h>
#include <martello/input/queue_input.h>
#include <martello/input/staging_input.h>
#include <martello/ops/assign.h>
#include <martello/runtime/internal/count_allocations.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace martello {
namespace {

using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;

// Counts the allocations of one epoch's steps, after a warm one.
struct Counter : Callback {
  explicit Counter(int64_t& n) : allocations(n) {}
  void before_epoch() override { testing::start_counting_allocations(); }
  void after_epoch() override { allocations = testing::stop_counting_allocations(); }
  int64_t& allocations;
};

struct Fetcher : Callback {
  void setup_graph() override { cost_ = context().get_tensor("cost"); }
  void before_run(RunContext& run) override { run.fetch(cost_); }
  void after_run(RunContext& run) override { sum += run.value().scalar<float>(); }
  double sum = 0;

 private:
  Tensor cost_;
};

TEST(Allocation, a_step_of_training_allocates_nothing) {
  int64_t allocations = -1;
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), line_cost, [] { return Momentum(0.01); });
  const TrainEnd end =
      trainer.train({.callbacks = {Fetcher(), PeriodicTrigger(CallbackFactory({}), {.steps = 3}), Counter(allocations)},
                     .steps_per_epoch = 200,
                     .max_epoch = 2});
  EXPECT_EQ(end.reason, TrainEnd::finished);
  EXPECT_EQ(allocations, 0);
}

// The data thread allocates what its flow makes, so it has to sleep: the queue is full and stays more than half full.
TEST(Allocation, taking_a_datapoint_from_a_queue_allocates_nothing) {
  static constexpr int64_t kCapacity = 1000;
  for (const int64_t staged : {0, 2}) {
    int64_t allocations = -1;
    auto made = std::make_shared<std::atomic<int64_t>>(0);
    const auto flow = data::from_index(100, [made](int64_t, Rng&) {
      ++*made;
      return Datapoint(HostTensor({4}, f32), HostTensor({4}, f32));
    });
    struct Filled : Callback {
      explicit Filled(std::shared_ptr<std::atomic<int64_t>> n) : made(std::move(n)) {}
      void before_epoch() override {
        while (*made < kCapacity) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      std::shared_ptr<std::atomic<int64_t>> made;
    };
    Ref<InputSource> input = QueueInput(flow, {.capacity = kCapacity});
    if (staged > 0) input = StagingInput(input, staged);
    SimpleTrainer trainer;
    trainer.setup_graph(kLineSignature, input, line_cost, [] { return Momentum(0.01); });
    const TrainEnd end = trainer.train(
        {.callbacks = {Filled(made), Fetcher(), Counter(allocations)}, .steps_per_epoch = 200, .max_epoch = 2});
    EXPECT_EQ(end.reason, TrainEnd::finished) << end.str();
    EXPECT_EQ(allocations, 0);
  }
}

TEST(Allocation, a_step_that_does_nothing_allocates_nothing) {
  int64_t allocations = -1;
  NoOpTrainer trainer;
  EXPECT_EQ(trainer.train({.callbacks = {Counter(allocations)}, .steps_per_epoch = 200, .max_epoch = 2}).reason,
            TrainEnd::finished);
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace martello
