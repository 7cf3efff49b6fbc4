#include <martello/base/internal/test_text.h>
#include <martello/data/sources.h>
#include <martello/testing/recording_callback.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/launch.h>

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>

namespace martello {
namespace {

using testing::Events;
using testing::LineInput;
using testing::LineModel;
using testing::Log;
using testing::RecordingCallback;

TrainConfig config_of(Ref<ModelDesc> model, CallbackList callbacks = {}) {
  TrainConfig config;
  config.model = std::move(model);
  config.data = LineInput();
  config.callbacks = std::move(callbacks);
  config.extra_callbacks = CallbackList{};
  config.monitors = std::vector<Ref<Monitor>>{};
  config.steps_per_epoch = 3;
  config.max_epoch = 2;
  return config;
}

TEST(Launch, trains_and_gives_the_end) {
  SimpleTrainer trainer;
  EXPECT_EQ(launch_train_with_config(config_of(LineModel()), trainer).reason, TrainEnd::finished);
  EXPECT_EQ(trainer.loop().global_step, 6);
  const int code = launch_train_with_config(config_of(LineModel()), SimpleTrainer());
  EXPECT_EQ(code, 0);
}

TEST(Launch, a_data_flow_is_fed) {
  TrainConfig config = config_of(LineModel());
  config.data = nullptr;
  config.dataflow = data::fake({{{}, f32, "x"}, {{}, f32, "y"}}, 10).batch(5);
  config.steps_per_epoch = {};
  SimpleTrainer trainer;
  const TrainEnd end = launch_train_with_config(config, trainer);
  EXPECT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_EQ(trainer.loop().global_step, 4) << "two batches are an epoch";
}

TEST(Launch, never_throws_and_logs_why) {
  Log log;
  SimpleTrainer trainer;
  const TrainEnd end = launch_train_with_config(TrainConfig{}, trainer);
  EXPECT_EQ(end.reason, TrainEnd::failed);
  EXPECT_CONTAINS(end.message, "no model");
  EXPECT_CONTAINS(end.message, "launch_test.cc");
  EXPECT_CONTAINS(log.lines.back(), "did not start");
  EXPECT_THROW(end.rethrow(), InvalidArgument);
}

TEST(Launch, an_error_in_a_callback_is_a_failure) {
  const auto events = make<Events>();
  const TrainEnd end = launch_train_with_config(
      config_of(LineModel(), {RecordingCallback("A", events).at("trigger", 1, [] { throw std::runtime_error("x"); })}),
      SimpleTrainer());
  EXPECT_EQ(end.reason, TrainEnd::failed);
  EXPECT_EQ(static_cast<int>(end), 1);
  EXPECT_EQ(events->back(), "A.after_train e1 s2 g3");
}

TEST(Launch, a_signal_finishes_the_step_and_gives_its_code) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto events = make<Events>();
    const auto handler = std::signal(signal, SIG_IGN);
    const TrainEnd end = launch_train_with_config(
        config_of(LineModel(), {RecordingCallback("A", events).at("before_run", 2, [=] { std::raise(signal); })}),
        SimpleTrainer());
    EXPECT_EQ(end.reason, TrainEnd::interrupted);
    EXPECT_EQ(static_cast<int>(end), 128 + signal);
    EXPECT_EQ((*events)[events->size() - 2], "A.trigger_step e1 s1 g2");
    EXPECT_EQ(events->back(), "A.after_train e1 s1 g2");
    EXPECT_EQ(std::signal(signal, handler), SIG_IGN) << "the older handler is back";
  }
}

struct Forgetful : LineModel {
  Tensor build_graph(TensorList in) const override {
    get_variable("line/extra", {.regularizer = [](Variable v) { return square(v, "penalty"); }});
    return LineModel::build_graph(in);
  }
};

TEST(Launch, warns_of_regularization_that_the_cost_does_not_use) {
  Log log;
  EXPECT_EQ(launch_train_with_config(config_of(Forgetful()), SimpleTrainer()).reason, TrainEnd::finished);
  bool is_told = false;
  for (const std::string& line : log.lines) is_told = is_told || line.find("penalty'") != std::string::npos;
  EXPECT_TRUE(is_told);
}

}  // namespace
}  // namespace martello
