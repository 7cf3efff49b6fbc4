#include <martello/base/internal/test_text.h>
#include <martello/train/gan_trainer.h>
#include <martello/train/internal/test_models.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello {
namespace {

using testing::error_of;
using testing::kLineSignature;
using testing::LineInput;
using testing::Log;

// Two numbers that learn two means, each with a cost of its own.
Costs two_costs(Tensor x, Tensor y) {
  const auto a = get_variable("a/value", {.initializer = zeros()}),
             b = get_variable("b/value", {.initializer = zeros()});
  return {{"second", reduce_mean(square(y - b))}, {"first", reduce_mean(square(x - a))}};
}

OptimizerRef descent() { return GradientDescent(0.25); }

std::vector<CostSpec> specs(int64_t every_first = 1) {
  return {{.name = "first", .variables = "a/", .optimizer = descent, .every = every_first},
          {.name = "second", .variables = "b/", .optimizer = descent}};
}

TEST(MultiCostTrainer, each_cost_trains_its_variables_in_one_run) {
  MultiCostTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), two_costs, specs());
  EXPECT_EQ(trainer.train({.steps_per_epoch = 20, .max_epoch = 1}).reason, TrainEnd::finished);
  EXPECT_NEAR(trainer.sess().get("a/value").at(0), 1.5, 1e-4);
  EXPECT_NEAR(trainer.sess().get("b/value").at(0), 4, 1e-4);
  EXPECT_EQ(trainer.loop().global_step, 20);
}

TEST(MultiCostTrainer, separate_runs_take_a_datapoint_each_and_warn_of_nothing) {
  Log log;
  MultiCostTrainer trainer(OneTower(), Updates::separate_runs);
  trainer.setup_graph(kLineSignature, LineInput(), two_costs, specs(3));
  EXPECT_EQ(trainer.train({.steps_per_epoch = 6, .max_epoch = 1}).reason, TrainEnd::finished);
  EXPECT_EQ(trainer.loop().global_step, 8) << "steps 0 and 3 have two runs";
  for (const std::string& line : log.lines) EXPECT_EQ(line.find("hooked runs"), std::string::npos) << line;
}

TEST(MultiCostTrainer, a_cost_may_have_a_period) {
  const auto a_after = [](int64_t steps) {
    MultiCostTrainer trainer;
    trainer.setup_graph(kLineSignature, LineInput(), two_costs, specs(2));
    EXPECT_EQ(trainer.train({.steps_per_epoch = steps, .max_epoch = 1}).reason, TrainEnd::finished);
    return trainer.sess().get("a/value").at(0);
  };
  EXPECT_EQ(a_after(1), a_after(2)) << "step 1 leaves it alone";
  EXPECT_LT(a_after(2), a_after(3));
}

std::string error_of_setup(std::vector<CostSpec> list, CostsFn costs = two_costs) {
  MultiCostTrainer trainer;
  return error_of([&] { trainer.setup_graph(kLineSignature, LineInput(), costs, std::move(list)); });
}

TEST(MultiCostTrainer, refuses_costs_that_do_not_fit) {
  EXPECT_CONTAINS(error_of_setup({}), "no cost to minimize");
  EXPECT_CONTAINS(error_of_setup({specs()[0]}), "2 costs (second, first) but there are 1 CostSpecs");
  auto list = specs();
  list[0].name = "frist";
  EXPECT_CONTAINS(error_of_setup(list), "'first'");
  list = specs();
  list[1].variables = "c/";
  EXPECT_CONTAINS(error_of_setup(list), "none among 2: a/value, b/value");
  list = specs();
  list[0].optimizer = {};
  EXPECT_CONTAINS(error_of_setup(list), "cost 'first' has no optimizer");
  list = specs(2);
  list[1].every = 2;
  EXPECT_CONTAINS(error_of_setup(list), "the least .every is 2");
  list = specs(0);
  EXPECT_CONTAINS(error_of_setup(list), "every 0 steps");
  list = specs();
  list[1].name = "first";
  EXPECT_CONTAINS(error_of_setup(list), "both named 'first'");
  EXPECT_CONTAINS(error_of_setup(specs(), [](Tensor) { return Costs(); }), "takes 1 tensors");
}

TEST(MultiCostTrainer, needs_its_graph) {
  MultiCostTrainer trainer;
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { (void)trainer.train({.steps_per_epoch = 1, .max_epoch = 1}); }),
                  "never built");
}

// The generator moves a number to where the discriminator takes it for real.
struct NumberGAN : GANModelDesc {
  std::vector<TensorSpec> inputs() const override { return kLineSignature; }
  GANLosses build_graph(TensorList in) const override {
    const auto value = get_variable("gen/value", {.initializer = zeros()});
    const auto w = get_variable("discrim/w", {.initializer = constant_init(1)});
    return gan_losses(in["x"] * w, in["y"] * 0 + value * w);
  }
  OptimizerRef optimizer() const override { return GradientDescent(0.1); }
};

TEST(GANTrainer, updates_both_on_one_datapoint) {
  GANTrainer trainer{LineInput(), NumberGAN()};
  EXPECT_EQ(trainer.train({.steps_per_epoch = 5, .max_epoch = 1}).reason, TrainEnd::finished);
  EXPECT_GT(trainer.sess().get("gen/value").at(0), 0);
  EXPECT_NE(trainer.sess().get("discrim/w").at(0), 1);
  EXPECT_EQ(trainer.loop().global_step, 5);
  EXPECT_NO_THROW(trainer.towers()[0].get_tensor("accuracy_real"));
}

TEST(GANTrainer, the_first_update_is_that_of_the_formulas) {
  GANTrainer trainer{LineInput(), NumberGAN()};
  EXPECT_EQ(trainer.train({.steps_per_epoch = 1, .max_epoch = 1}).reason, TrainEnd::finished);
  // fake logits are 0: d g_loss / d value = (sigmoid(0) - 1) w = -0.5
  EXPECT_NEAR(trainer.sess().get("gen/value").at(0), 0.05, 1e-6);
  double d = 0;
  for (const double x : {0., 1., 2., 3.}) d += 0.5 * 0.25 * (1 / (1 + std::exp(-x)) - 1) * x;
  EXPECT_NEAR(trainer.sess().get("discrim/w").at(0), 1 - 0.1 * d, 1e-5);
}

TEST(SeparateGANTrainer, periods_count_steps) {
  SeparateGANTrainer trainer(LineInput(), NumberGAN(), {.d_period = 3});
  EXPECT_EQ(trainer.train({.steps_per_epoch = 6, .max_epoch = 1}).reason, TrainEnd::finished);
  EXPECT_EQ(trainer.loop().global_step, 8);
  EXPECT_CONTAINS(error_of([] { SeparateGANTrainer(LineInput(), NumberGAN(), {.d_period = 2, .g_period = 2}); }),
                  "the least .every is 2");
}

}  // namespace
}  // namespace martello
