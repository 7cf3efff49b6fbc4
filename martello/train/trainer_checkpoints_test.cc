// What a trainer saves when it ends, and what it keeps in memory.
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/model_saver.h>
#include <martello/callbacks/wrappers.h>
#include <martello/loop/stop_training.h>
#include <martello/train/checkpoint.h>
#include <martello/train/internal/test_actor.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace martello {
namespace {

namespace fs = std::filesystem;
using testing::Actor;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

class TrainerCheckpointsTest : public ::testing::Test {
 protected:
  // Saves after every second epoch of two steps.
  TrainEnd train(Actor actor, std::string from = "none", int64_t epochs = 3) {
    SimpleTrainer trainer;
    trainer.setup_graph(kLineSignature, LineInput(), line_cost, [] { return Momentum(0.01); });
    const TrainEnd end =
        trainer.train({.callbacks = {PeriodicTrigger(ModelSaver({.dir = dir_}), {.epochs = 2}), std::move(actor)},
                       .steps_per_epoch = 2,
                       .max_epoch = epochs,
                       .resume = {.from = std::move(from)}});
    steps_ = trainer.loop().global_step;
    return end;
  }
  CheckpointInfo newest() const { return *list_checkpoints(dir_).at(0).info; }

  const testing::TestDir folder_;
  const std::string dir_ = folder_.path();
  int64_t steps_ = 0;
};

TEST_F(TrainerCheckpointsTest, the_end_is_saved_though_no_saver_was_due) {
  ASSERT_EQ(train({}).reason, TrainEnd::finished);
  EXPECT_EQ(newest().global_step, 6);
  EXPECT_TRUE(newest().is_finished());
  Actor counter;
  int steps = 0;
  counter.in_step = [&](Actor&) { ++steps; };
  ASSERT_EQ(train(std::move(counter), "auto").reason, TrainEnd::finished);
  EXPECT_EQ(steps, 0);
  ASSERT_EQ(train({}, "auto", 4).reason, TrainEnd::finished);
  EXPECT_EQ(newest().global_step, 8) << "with more epochs it goes on";
}

TEST_F(TrainerCheckpointsTest, a_run_that_was_stopped_stays_so_wherever_that_was) {
  const auto stop = [](Actor& a) {
    if (a.see().loop().global_step >= 3) throw StopTraining("enough");
  };
  const auto request = [](Actor& a) {
    if (a.see().loop().global_step == 3) a.run->request_stop();
  };
  for (const auto& [hook, act] :
       std::vector<std::pair<Actor::Act Actor::*, Actor::Act>>{{&Actor::in_before_run, stop},
                                                               {&Actor::in_after_run, stop},
                                                               {&Actor::in_step, stop},
                                                               {&Actor::in_trigger, stop},
                                                               {&Actor::in_after_run, request}}) {
    Actor actor;
    actor.*hook = act;
    ASSERT_EQ(train(std::move(actor)).reason, TrainEnd::stopped);
    EXPECT_EQ(newest().global_step, steps_);
    EXPECT_TRUE(newest().is_stopped()) << newest().end;
    ASSERT_EQ(train({}, "auto").reason, TrainEnd::stopped);
    fs::remove_all(dir_), fs::create_directory(dir_);
  }
}

TEST_F(TrainerCheckpointsTest, what_was_not_trained_is_not_saved) {
  Actor actor;
  actor.in_before_train = [](Actor&) { throw StopTraining("not today"); };
  ASSERT_EQ(train(std::move(actor)).reason, TrainEnd::stopped);
  ASSERT_EQ(train({}, "none", 0).reason, TrainEnd::finished);
  EXPECT_TRUE(list_checkpoints(dir_).empty());
}

TEST_F(TrainerCheckpointsTest, the_error_that_ended_a_run_is_told_when_its_state_cannot_be_saved) {
  testing::Log log;
  Actor actor;
  actor.in_trigger = [&](Actor&) {
    fs::create_directory(dir_ + "/crash-2.safetensors.part");
    throw std::runtime_error("the true cause");
  };
  const TrainEnd end = train(std::move(actor));
  EXPECT_CONTAINS(end.message, "the true cause");
  EXPECT_THROW(end.rethrow(), std::runtime_error);
  EXPECT_TRUE(std::any_of(log.lines.begin(), log.lines.end(), [](const std::string& line) {
    return line.find("The state at the error could not be saved: ") != std::string::npos &&
           line.find("crash-2.safetensors") != std::string::npos;
  }));
}

TEST_F(TrainerCheckpointsTest, the_state_at_an_error_is_saved_whatever_the_error_says) {
  Actor actor;
  actor.in_trigger = [](Actor&) { throw std::runtime_error("\xff\x01 in a file" + std::string(20'000'000, 'x')); };
  const testing::Log log;
  EXPECT_EQ(train(std::move(actor)).reason, TrainEnd::failed);
  const CheckpointInfo saved = read_checkpoint_info(dir_ + "/crash-2.safetensors");
  EXPECT_CONTAINS(saved.end, "crash: \xef\xbf\xbd\x01 in a file");
}

struct Named : Callback {
  explicit Named(std::string n) : name_(std::move(n)) {}
  std::string name() const override { return name_; }
  void state(State& s) override { s("value", value_); }
  std::string name_;
  int64_t value_ = 0;
};

TEST_F(TrainerCheckpointsTest, callbacks_may_be_called_anything) {
  for (const char* from : {"none", "auto"}) {
    SimpleTrainer trainer;
    trainer.setup_graph(kLineSignature, LineInput(), line_cost, [] { return Momentum(0.01); });
    CallbackList callbacks = {ModelSaver({.dir = dir_})};
    for (const char* name : {"a", "a", "a#2", "tagged", "callbacks", "\xff"}) callbacks.push_back(Named(name));
    const TrainEnd end = trainer.train({.callbacks = std::move(callbacks),
                                        .steps_per_epoch = 2,
                                        .max_epoch = from[0] == 'n' ? 1 : 2,
                                        .resume = {.from = from}});
    EXPECT_TRUE(end.is_success()) << end.message;
    EXPECT_EQ(end.failed_saves, 0);
  }
  EXPECT_EQ(newest().global_step, 4);
}

TEST_F(TrainerCheckpointsTest, a_state_that_cannot_be_saved_tells_whose_it_is) {
  struct Twice : Named {
    using Named::Named;
    void state(State& s) override { s("value", value_), s("value", value_); }
  };
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), line_cost, [] { return Momentum(0.01); });
  const TrainEnd end =
      trainer.train({.callbacks = {ModelSaver({.dir = dir_}), Twice("T")}, .steps_per_epoch = 2, .max_epoch = 1});
  EXPECT_EQ(end.reason, TrainEnd::failed);
  EXPECT_CONTAINS(end.message, "in the state of callback 'T'");
}

TEST_F(TrainerCheckpointsTest, variables_that_no_file_holds_are_refused_before_training) {
  Actor actor;
  actor.in_setup = [](Actor&) { get_variable("w\xff", {.shape = {2}, .trainable = false}); };
  EXPECT_CONTAINS(testing::error_of<InvalidArgument>([&] { static_cast<void>(train(std::move(actor))); }), "no UTF-8");
  EXPECT_TRUE(list_checkpoints(dir_).empty());
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_F(TrainerCheckpointsTest, a_resumed_run_gives_back_the_memory_of_its_checkpoint) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers keep what is freed";
  constexpr int64_t kElements = 16 << 20;
  const auto with_variable = [] {
    Actor actor;
    actor.in_setup = [](Actor&) { get_variable("large", {.shape = {kElements}, .trainable = false}); };
    return actor;
  };
  ASSERT_EQ(train(with_variable(), "none", 1).reason, TrainEnd::finished);
  int64_t before = 0, after = 0;
  Actor actor = with_variable();
  actor.in_before_train = [&](Actor&) { before = resident_bytes(); };
  actor.in_step = [&](Actor& a) {
    if (a.see().loop().local_step == 0) after = resident_bytes();
  };
  ASSERT_EQ(train(std::move(actor), "auto", 2).reason, TrainEnd::finished);
  EXPECT_LT(after, before - 3 * kElements) << "of " << 4 * kElements << " bytes";
}

}  // namespace
}  // namespace martello
