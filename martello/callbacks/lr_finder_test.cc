#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/state.h>
#include <martello/callbacks/lr_finder.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <cmath>

namespace martello {
namespace {

using testing::error_of;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;
using testing::Log;
using testing::TestDir;

struct LrFinderTest : ::testing::Test {
  Log log;
  SimpleTrainer trainer;
  LrFinderTest() {
    trainer.setup_graph(kLineSignature, LineInput(), line_cost,
                        [] { return GradientDescent(get_scalar_var("learning_rate", 0.5)); });
  }
  TrainEnd train(const std::shared_ptr<LearningRateFinder>& finder, int64_t steps = 50) {
    return trainer.train({.callbacks = {finder}, .steps_per_epoch = steps, .max_epoch = 2});
  }
};

TEST_F(LrFinderTest, suggests_a_rate_that_trains) {
  const TestDir dir;
  logger::set_logger_dir(dir.path(), logger::OldRun::keep);
  const auto finder = make<LearningRateFinder>("learning_rate", "cost");
  const TrainEnd end = train(finder);
  EXPECT_EQ(end.reason, TrainEnd::stopped);
  EXPECT_CONTAINS(end.message, "learning rates up to ");
  ASSERT_TRUE(finder->suggestion());
  // Gradient descent on this model diverges above 2 / 8.4, its largest curvature.
  EXPECT_GT(*finder->suggestion(), 1e-4);
  EXPECT_LT(*finder->suggestion(), 0.24);
  EXPECT_LT(trainer.loop().global_step, 100);
  EXPECT_EQ(trainer.monitors().get_latest("lr_finder/suggestion"), *finder->suggestion());
  EXPECT_TRUE(dir.read("lr_finder.csv").starts_with("learning_rate,loss,smoothed_loss\n1e-07,"));
  EXPECT_TRUE(dir.read("lr_finder.png").starts_with("\x89PNG"));
}

TEST_F(LrFinderTest, tries_every_rate_when_nothing_diverges) {
  const auto finder = make<LearningRateFinder>(
      "learning_rate", "cost", LearningRateFinderOptions{.from = 1e-6, .to = 1e-2, .steps = 21, .smoothing = 0});
  EXPECT_EQ(train(finder).reason, TrainEnd::stopped);
  EXPECT_EQ(trainer.loop().global_step, 21);
  EXPECT_NEAR(*finder->suggestion(), 1e-2, 5e-3);
}

TEST_F(LrFinderTest, says_when_the_loss_never_falls) {
  const auto finder =
      make<LearningRateFinder>("learning_rate", "cost", LearningRateFinderOptions{.from = 10, .to = 100, .steps = 20});
  EXPECT_EQ(train(finder).reason, TrainEnd::stopped);
  EXPECT_FALSE(finder->suggestion());
  EXPECT_CONTAINS(join(log.lines, "\n"), "'cost' never fell");
}

TEST_F(LrFinderTest, refuses_what_it_cannot_do) {
  EXPECT_CONTAINS(error_of([&] { (void)train(make<LearningRateFinder>("learning_rate", "cost"), 49); }),
                  "needs 100 steps, but training has 2 epochs of 49");
  using Options = LearningRateFinderOptions;
  const auto make_it = [](Options o) { return error_of([&] { LearningRateFinder("a", "b", o); }); };
  EXPECT_CONTAINS(make_it({.from = 0}), "from 0 to 10");
  EXPECT_CONTAINS(make_it({.steps = 9}), "9 steps");
  EXPECT_CONTAINS(make_it({.smoothing = 1}), ".smoothing is 1");
  EXPECT_CONTAINS(make_it({.diverged_at = 1}), ".diverged_at is 1");
}

TEST_F(LrFinderTest, names_what_is_missing) {
  EXPECT_CONTAINS(error_of([&] { (void)train(make<LearningRateFinder>("learning_rat", "cost")); }),
                  "Did you mean 'learning_rate'?");
}

TEST_F(LrFinderTest, state_goes_on_where_it_was) {
  LearningRateFinder a("learning_rate", "cost"), b("learning_rate", "cost");
  State saved;
  std::vector<double> losses = {3, 2, 1};
  double average = 1.1, least = 1;
  saved("losses", losses);
  saved("average", average);
  saved("least", least);
  GraphVarParam rate("learning_rate");
  saved("learning_rate", rate);
  restore_state(a, saved.bytes());
  restore_state(b, save_state(a));
  EXPECT_EQ(a.suggestion(), b.suggestion());
  EXPECT_TRUE(b.suggestion());
}

}  // namespace
}  // namespace martello
