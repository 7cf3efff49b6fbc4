#include <martello/base/internal/test_text.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;
using testing::LineModel;
using testing::Log;

OptimizerFn descent(double rate) {
  return [rate] { return GradientDescent(rate); };
}

TEST(SingleCostTrainer, trains_the_same_bits_as_a_loop_over_a_session) {
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), line_cost, descent(0.05));
  EXPECT_EQ(trainer.train({.steps_per_epoch = 10, .max_epoch = 3}).reason, TrainEnd::finished);
  EXPECT_EQ(trainer.train_op.name(), "train_op");

  const GraphScope scope;
  const auto x = placeholder({kUnknown}, f32, "x"), y = placeholder({kUnknown}, f32, "y");
  const auto train = GradientDescent(0.05).minimize(line_cost(x, y));
  Session session;
  for (int i = 0; i < 30; ++i)
    session.run(train, {{x, HostTensor::of<float>({0, 1, 2, 3})}, {y, HostTensor::of<float>({1, 3, 5, 7})}});
  for (const char* name : {"line/w", "line/b"})
    EXPECT_TRUE(trainer.sess().get(name).same_bits(session.get(name))) << name;
}

TEST(SingleCostTrainer, the_optimizer_function_is_called_once) {
  int calls = 0;
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), line_cost, [&] {
    ++calls;
    return GradientDescent(0.1);
  });
  EXPECT_EQ(calls, 1);
}

TEST(SingleCostTrainer, is_set_up_once) {
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), line_cost, descent(0.1));
  const std::string text =
      error_of<FailedPrecondition>([&] { trainer.setup_graph(kLineSignature, LineInput(), line_cost, descent(0.1)); });
  for (const char* part : {"setup_graph() is called twice", "single_cost_trainer_test.cc"}) EXPECT_CONTAINS(text, part);
}

std::string error_of_setup(CostFn cost, OptimizerFn optimizer, Ref<InputSource> input = LineInput()) {
  SimpleTrainer trainer;
  return error_of([&] { trainer.setup_graph(kLineSignature, input, cost, optimizer); });
}

TEST(SingleCostTrainer, refuses_what_cannot_be_trained) {
  EXPECT_CONTAINS(error_of_setup([](Tensor x, Tensor) { return x * get_variable("w"); }, descent(0.1)),
                  "needs to be a scalar");
  EXPECT_CONTAINS(error_of_setup([](Tensor, Tensor) { return Tensor(); }, descent(0.1)), "null Tensor");
  EXPECT_CONTAINS(error_of_setup([](Tensor x, Tensor) { return reduce_mean(x); }, descent(0.1)),
                  "no variable to train");
  EXPECT_CONTAINS(error_of_setup(line_cost, {}), "empty optimizer function");
  EXPECT_CONTAINS(error_of_setup(line_cost, [] { return OptimizerRef(); }), "returned null");
  EXPECT_CONTAINS(error_of_setup(line_cost, descent(0.1), nullptr), "null input");
  EXPECT_CONTAINS(error_of_setup([](Tensor x) { return reduce_mean(x); }, descent(0.1)), "takes 1 tensors");
}

TEST(SingleCostTrainer, warns_of_variables_made_before_it) {
  Log log;
  const GraphScope scope;
  get_variable("outside");
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), line_cost, descent(0.1));
  bool is_told = false;
  for (const std::string& line : log.lines)
    is_told = is_told || line.find("not trained: 'outside'") != std::string::npos;
  EXPECT_TRUE(is_told);
}

TEST(SingleCostTrainer, the_older_interface_takes_a_config) {
  TrainConfig config;
  config.model = LineModel();
  config.data = LineInput();
  config.max_epoch = 2;
  config.extra_callbacks = CallbackList{};
  config.monitors = std::vector<Ref<Monitor>>{};
  SimpleTrainer trainer(config);
  EXPECT_EQ(trainer.train().reason, TrainEnd::finished);
  EXPECT_EQ(trainer.loop().global_step, 10) << "steps per epoch are the size of the data";
}

struct OldStyle : Trainer {
  using Trainer::Trainer;
  void setup() override {
    const auto x = get_variable("x", {.shape = {3}});
    train_op = GradientDescent(0.1).minimize(reduce_sum(square(x)), {x});
    register_callback(RegisteredInSetup());
  }
  struct RegisteredInSetup : Callback {};
};

TEST(SingleCostTrainer, setup_is_called_by_train_with_the_graph_current) {
  TrainConfig config;
  config.steps_per_epoch = 3;
  config.max_epoch = 1;
  OldStyle trainer(config);
  EXPECT_EQ(trainer.train().reason, TrainEnd::finished);
  EXPECT_EQ(trainer.loop().global_step, 3);
}

TEST(SingleCostTrainer, no_op_trainer_runs_hooks_only) {
  NoOpTrainer trainer;
  EXPECT_EQ(trainer.train({.steps_per_epoch = 4, .max_epoch = 1}).reason, TrainEnd::finished);
  EXPECT_EQ(trainer.loop().global_step, 4);
}

TEST(SingleCostTrainer, may_be_moved_before_it_trains) {
  SimpleTrainer first;
  first.setup_graph(kLineSignature, LineInput(), line_cost, descent(0.05));
  SimpleTrainer second = std::move(first);
  EXPECT_EQ(second.train({.steps_per_epoch = 2, .max_epoch = 1}).reason, TrainEnd::finished);
}

}  // namespace
}  // namespace martello
