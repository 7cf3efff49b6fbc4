// Where the time of an epoch goes, as its line and its scalars say.
#include <martello/base/internal/test_text.h>
#include <martello/input/feed_input.h>
#include <martello/input/queue_input.h>
#include <martello/loop/monitors.h>
#include <martello/train/internal/test_actor.h>
#include <martello/train/internal/test_input.h>

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

namespace martello {
namespace {

using namespace testing;

void sleep_ms(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

struct Shares : Monitor {
  explicit Shares(std::map<std::string, double>& s) : shares(s) {}
  void process_volatile(std::string_view name, double value) override {
    if (name.starts_with("time/")) shares[std::string(name)] = value;
  }
  void process_scalar(std::string_view, double) override { sleep_ms(2); }
  std::map<std::string, double>& shares;
};

struct Accounted {
  std::map<std::string, double> shares;
  std::string line;
  double sum() const {
    double sum = 0;
    for (const auto& [name, share] : shares) sum += share;
    return sum;
  }
};

Accounted account_of(Ref<InputSource> input, Actor actor = {}, int64_t steps = 20) {
  Accounted result;
  Log log;
  const InputRun run =
      run_on(std::move(input), steps, {.callbacks = {std::move(actor)}, .monitors = {{Shares(result.shares)}}});
  EXPECT_EQ(run.end.reason, TrainEnd::finished) << run.end.str();
  int lines = 0;
  for (const std::string& line : log.lines)
    if (line.find("Time of epoch 1: ") != std::string::npos) result.line = line, ++lines;
  EXPECT_EQ(lines, 1);
  EXPECT_EQ(result.shares.size(), 4u);
  EXPECT_NEAR(result.sum(), 1, 0.02);
  return result;
}

DataFlowRef decoded_slowly() {
  return numbers(100).map(
      [](Datapoint d) {
        sleep_ms(4);
        return d;
      },
      {.name = "decode"});
}

TEST(Time, slow_data_is_named_with_its_slowest_stage) {
  for (const Ref<InputSource>& input :
       {Ref<InputSource>(QueueInput(decoded_slowly())), Ref<InputSource>(FeedInput(decoded_slowly())),
        Ref<InputSource>(QueueInput(decoded_slowly().prefetch()))}) {
    const Accounted a = account_of(input);
    EXPECT_GT(a.shares.at("time/input"), 0.7);
    EXPECT_CONTAINS(a.line, "input-bound");
    EXPECT_CONTAINS(a.line, "slowest stage map 'decode' (time_test.cc:");
  }
}

TEST(Time, slow_callbacks_are_told_from_slow_steps_and_slow_monitors) {
  Actor in_step, in_run, in_monitors;
  in_step.in_step = [](Actor&) { sleep_ms(3); };
  EXPECT_GT(account_of(QueueInput(numbers(9)), std::move(in_step)).shares.at("time/callbacks"), 0.7);
  in_run.in_after_run = [](Actor&) { sleep_ms(3); };
  EXPECT_CONTAINS(account_of(QueueInput(numbers(9)), std::move(in_run)).line, "callbacks-bound");
  in_monitors.in_step = [](Actor& a) { a.see().monitors().put_scalar("loss", 1); };
  EXPECT_GT(account_of(QueueInput(numbers(9)), std::move(in_monitors)).shares.at("time/monitors"), 0.7);
}

TEST(Time, what_run_step_does_is_computing) {
  struct Slow : NoOpTrainer {
    void run_step() override {
      sleep_ms(1);
      NoOpTrainer::run_step();
      sleep_ms(1);
    }
  };
  std::map<std::string, double> shares;
  Slow trainer;
  EXPECT_EQ(trainer.train({.monitors = {{Shares(shares)}}, .steps_per_epoch = 20, .max_epoch = 1}).reason,
            TrainEnd::finished);
  EXPECT_GT(shares.at("time/compute"), 0.8);
}

TEST(Time, an_epoch_without_steps_has_no_line) {
  Log log;
  NoOpTrainer trainer;
  EXPECT_EQ(trainer.train({.steps_per_epoch = 0, .max_epoch = 1}).reason, TrainEnd::finished);
  for (const std::string& line : log.lines) EXPECT_EQ(line.find("Time of epoch"), std::string::npos) << line;
}

}  // namespace
}  // namespace martello
