// Wrong use of trainers: an error with names, before the first step.
#include <martello/base/internal/test_text.h>
#include <martello/testing/recording_callback.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/tower_trainer.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;
using testing::Events;
using testing::Log;
using testing::RecordingCallback;

struct Idle : Trainer {
  using Trainer::Trainer;
  int steps = 0;
  void run_step() override { ++steps; }
};

struct Named : Callback {
  std::string name() const override { return "Named"; }
  std::function<void()> in_setup;
  void setup_graph() override {
    if (in_setup) in_setup();
  }
  Tensor look_up(const char* tensor) { return context().get_tensor(tensor); }
  TrainContext& see() { return context(); }
};

// What train() throws for these options.
std::string error_of_train(TrainOptions options) {
  Idle trainer;
  const std::string text = error_of([&] { (void)trainer.train(std::move(options)); });
  EXPECT_EQ(trainer.steps, 0);
  return text;
}

TEST(TrainerErrors, options_that_cannot_be) {
  EXPECT_CONTAINS(error_of_train({.max_epoch = 1}), ".steps_per_epoch is not set");
  EXPECT_CONTAINS(error_of_train({.steps_per_epoch = -1}), ".steps_per_epoch is -1");
  EXPECT_CONTAINS(error_of_train({.steps_per_epoch = 1, .max_epoch = -5}), ".max_epoch is -5");
  EXPECT_CONTAINS(error_of_train({.callbacks = {nullptr}, .steps_per_epoch = 1}), ".callbacks[0] is null");
  EXPECT_CONTAINS(error_of_train({.monitors = std::vector<Ref<Monitor>>{nullptr}, .steps_per_epoch = 1}),
                  ".monitors[0] is null");
  EXPECT_CONTAINS(error_of_train({.steps_per_epoch = 1, .handle_signals = true, .grace_seconds = 0}), "grace_seconds");
}

TEST(TrainerErrors, the_users_line_is_told) {
  EXPECT_CONTAINS(error_of_train({.max_epoch = 1}), "trainer_errors_test.cc");
}

TEST(TrainerErrors, a_trainer_is_trained_once) {
  Idle trainer;
  EXPECT_EQ(trainer.train({.steps_per_epoch = 1, .max_epoch = 1}).reason, TrainEnd::finished);
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { (void)trainer.train({.steps_per_epoch = 1}); }), "twice");
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { trainer.register_callback(Named()); }),
                  "register_callback('Named') after train() has begun");
}

TEST(TrainerErrors, no_train_op_is_thrown_and_after_train_still_runs) {
  const auto events = make<Events>();
  Log log;
  Trainer trainer;
  const std::string text = error_of<FailedPrecondition>([&] {
    (void)trainer.train({.callbacks = {RecordingCallback("A", events)}, .steps_per_epoch = 1, .max_epoch = 1});
  });
  EXPECT_CONTAINS(text, "no train_op");
  EXPECT_EQ(events->back(), "A.after_train e1 s0 g0");
  for (const std::string& line : log.lines) EXPECT_EQ(line.find("Training has finished"), std::string::npos);
}

TEST(TrainerErrors, no_config) {
  Idle trainer;
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { (void)trainer.train(); }), "without a TrainConfig");
}

struct SomeMonitor : Monitor {
  std::string name() const override { return "SomeMonitor"; }
};

TEST(TrainerErrors, a_monitor_is_no_callback) {
  EXPECT_CONTAINS(error_of_train({.callbacks = {SomeMonitor()}, .steps_per_epoch = 1}), "'SomeMonitor', is a monitor");
  Idle trainer;
  trainer.register_callback(SomeMonitor());
  EXPECT_CONTAINS(error_of([&] { (void)trainer.train({.steps_per_epoch = 1}); }), "Give it in .monitors");
}

TEST(TrainerErrors, a_null_callback_is_not_registered) {
  Idle trainer;
  EXPECT_CONTAINS(error_of([&] { trainer.register_callback(nullptr); }), "null callback");
}

TEST(TrainerErrors, an_unknown_tensor_names_the_callback_and_near_misses) {
  const GraphScope scope;
  constant(HostTensor(1.f), "loss");
  const auto callback = make<Named>();
  callback->in_setup = [&] { callback->look_up("los"); };
  Idle trainer;
  const std::string text =
      error_of<NotFound>([&] { (void)trainer.train({.callbacks = {callback}, .steps_per_epoch = 1}); });
  for (const char* part : {"'los'", "'loss'", "in setup_graph of callback 'Named'", "trainer_errors_test.cc"})
    EXPECT_CONTAINS(text, part);
}

TEST(TrainerErrors, sessions_do_not_exist_before_train) {
  Idle trainer;
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { trainer.sess(); }), "sess()");
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { trainer.hooked_sess(); }), "hooked_sess()");
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { trainer.monitors(); }), "monitors()");
}

TEST(TrainerErrors, a_trainer_without_towers_has_no_predictor) {
  const auto callback = make<Named>();
  callback->in_setup = [&] { callback->see().get_predictor({"x"}, {"y"}); };
  EXPECT_CONTAINS(error_of_train({.callbacks = {callback}, .steps_per_epoch = 1}), "no tower function");
  callback->in_setup = [&] { callback->see().input_signature(); };
  EXPECT_CONTAINS(error_of_train({.callbacks = {callback}, .steps_per_epoch = 1}), "no tower function");
  TowerTrainer towers;
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { towers.towers(); }), "no tower function yet");
}

TEST(TrainerErrors, a_final_graph_cannot_be_trained) {
  const Graph graph;
  graph.impl();
  Idle trainer{Graph(graph)};
  trainer.graph().finalize();
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { (void)trainer.train({.steps_per_epoch = 1}); }), "final");
}

struct Hookless : Idle {
  void initialize_hooks() override {}
};

TEST(TrainerErrors, hooks_are_made) {
  Hookless trainer;
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { (void)trainer.train({.steps_per_epoch = 1}); }),
                  "initialize_hooks()");
}

struct Early : Callback {
  std::vector<std::string> needs() const override { return {"error"}; }
};
struct Late : Callback {
  std::vector<std::string> provides() const override { return {"error"}; }
};

TEST(TrainerErrors, a_registered_callback_cannot_wait_for_a_later_one) {
  Idle trainer;
  trainer.register_callback(Early());
  const std::string text = error_of([&] { (void)trainer.train({.callbacks = {Late()}, .steps_per_epoch = 1}); });
  for (const char* part : {"'Early'", "'Late'", "'error'", ".callbacks"}) EXPECT_CONTAINS(text, part);
}

}  // namespace
}  // namespace martello
