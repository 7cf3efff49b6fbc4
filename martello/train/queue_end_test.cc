// However training ends, the threads of its input end with it.
#include <martello/base/internal/test_text.h>
#include <martello/input/queue_input.h>
#include <martello/train/internal/test_actor.h>
#include <martello/train/internal/test_input.h>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace martello {
namespace {

using namespace testing;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Threads that come and go by themselves (those of the engine) are there before the first training of this binary.
int threads_after_warm_up() {
  static const int threads = [] {
    run_on(QueueInput(numbers(3)), 2);
    return thread_count();
  }();
  return threads;
}

// A pipeline with threads of its own, all of them busy when training ends.
DataFlowRef busy() {
  const auto slow = [](Datapoint d) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return d;
  };
  return numbers(1000).parallel_map(slow, {.threads = 3}).prefetch({.buffer_bytes = 1000});
}

// Gives one datapoint, then waits until somebody ends it.
DataFlowRef stuck() {
  return data::from_generator([](Pass pass) -> Generator<Datapoint> {
    co_yield Datapoint(1.f);
    while (!pass.is_interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
}

TEST(QueueEnd, no_thread_is_left_when_training_finishes) {
  const int before = threads_after_warm_up();
  EXPECT_EQ(run_on(QueueInput(busy()), 20).end.reason, TrainEnd::finished);
  EXPECT_EQ(thread_count(), before);
}

TEST(QueueEnd, no_thread_is_left_when_a_callback_stops_training_or_fails) {
  const int before = threads_after_warm_up();
  for (const bool in_run : {false, true})
    for (const bool is_stop : {false, true}) {
      Actor actor;
      (in_run ? actor.in_before_run : actor.in_step) = [is_stop](Actor& a) {
        if (a.see().loop().global_step < 3) return;
        if (is_stop) throw StopTraining("enough");
        throw InvalidArgument("[test] broken.");
      };
      const InputRun run = run_on(QueueInput(busy()), 20, {.callbacks = {std::move(actor)}});
      EXPECT_EQ(run.end.reason, is_stop ? TrainEnd::stopped : TrainEnd::failed);
      EXPECT_EQ(thread_count(), before);
    }
}

TEST(QueueEnd, no_thread_is_left_when_another_callback_fails_before_the_first_step) {
  const int before = threads_after_warm_up();
  Actor actor;
  actor.in_before_train = [](Actor&) { throw InvalidArgument("[test] broken."); };
  EXPECT_EQ(run_on(QueueInput(busy()), 20, {.callbacks = {std::move(actor)}}).end.reason, TrainEnd::failed);
  EXPECT_EQ(thread_count(), before);
}

TEST(QueueEnd, a_source_that_waits_for_ever_is_left_at_once_when_training_ends) {
  const int before = threads_after_warm_up();
  const auto start = Clock::now();
  for (const DataFlowRef& flow : {stuck(), stuck().prefetch(), stuck().parallel_map([](Datapoint d) { return d; })})
    EXPECT_EQ(run_on(QueueInput(flow), 1).end.reason, TrainEnd::finished);
  EXPECT_LT(seconds_since(start), 5);
  EXPECT_EQ(thread_count(), before);
}

TEST(QueueEnd, a_signal_ends_the_wait_for_data) {
  const int before = threads_after_warm_up();
  for (const bool in_first_step : {false, true}) {
    const DataFlowRef flow = in_first_step ? stuck().filter([](const Datapoint&) { return false; }) : stuck();
    std::thread sender([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::raise(SIGTERM);
    });
    const auto start = Clock::now();
    const InputRun run = run_on(QueueInput(flow), 10, {.handle_signals = true});
    sender.join();
    EXPECT_EQ(run.end.reason, TrainEnd::interrupted) << run.end.str();
    EXPECT_EQ(static_cast<int>(run.end), 128 + SIGTERM);
    EXPECT_EQ(run.global_step, in_first_step ? 0 : 1);
    EXPECT_LT(seconds_since(start), 5);
    EXPECT_EQ(thread_count(), before);
  }
}

TEST(QueueEnd, the_signal_of_an_earlier_training_ends_no_wait_of_a_later_one) {
  const auto late = numbers(5).map([](Datapoint d) {
    std::this_thread::sleep_for(std::chrono::milliseconds(70));
    return d;
  });
  const InputRun run = run_on(QueueInput(late), 3);
  EXPECT_EQ(run.end.reason, TrainEnd::finished) << run.end.str();
}

TEST(QueueEnd, an_input_that_never_trains_has_no_thread) {
  const int before = threads_after_warm_up();
  {
    SimpleTrainer trainer;
    trainer.setup_graph(kNumberSignature, QueueInput(busy()), number_cost, [] { return GradientDescent(0.01); });
  }
  EXPECT_EQ(thread_count(), before);
}

}  // namespace
}  // namespace martello
