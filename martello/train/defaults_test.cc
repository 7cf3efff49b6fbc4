#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/logger_dir.h>
#include <martello/callbacks/early_stopping.h>
#include <martello/callbacks/monitors/stats_file.h>
#include <martello/callbacks/summaries.h>
#include <martello/graph/collections.h>
#include <martello/models/batch_norm.h>
#include <martello/ops/reshape.h>
#include <martello/tower/summary.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace martello {
namespace {

namespace fs = std::filesystem;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;

std::vector<std::string> names_of(const auto& list) {
  std::vector<std::string> names;
  for (const auto& c : list) names.push_back(c->name());
  return names;
}

TEST(Defaults, are_new_objects_in_a_fixed_order) {
  EXPECT_EQ(names_of(default_callbacks()),
            (std::vector<std::string>{"MovingAverageSummary", "ProgressBar", "MergeAllSummaries", "RunUpdateOps"}));
  EXPECT_EQ(names_of(default_monitors()), (std::vector<std::string>{"TFEventWriter", "JSONWriter", "ScalarPrinter"}));
  EXPECT_NE(default_callbacks()[0].get(), default_callbacks()[0].get());
}

class DefaultsTest : public ::testing::Test {
 protected:
  DefaultsTest() { logger::set_logger_dir(dir_, logger::OldRun::keep); }
  const testing::TestDir folder_;
  const std::string dir_ = folder_.path();
};

Tensor averaged_cost(Tensor x, Tensor y) {
  const Tensor cost = line_cost(Tensor(batch_norm("bn", reshape(x, {-1, 1}))), reshape(y, {-1, 1}));
  add_moving_summary({cost});
  return cost;
}

TEST_F(DefaultsTest, keep_averages_and_write_files) {
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), averaged_cost, [] { return GradientDescent(0.01); });
  const TrainEnd end = trainer.train_with_defaults({.steps_per_epoch = 4, .max_epoch = 3});
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_NE(trainer.sess().get("bn/mean/EMA").at(0), 0) << "update ops have run";
  const auto rows = load_stats(dir_ + "/stats.jsonl");
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[2].epoch_num, 3);
  EXPECT_EQ(rows[2].global_step, 12);
  ASSERT_EQ(rows[2].scalars.size(), 1);
  EXPECT_EQ(rows[2].scalars[0].first, "cost");
  EXPECT_EQ(rows[2].scalars[0].second, trainer.monitors().get_latest("cost"));
  int events = 0;
  for (const auto& f : fs::directory_iterator(dir_)) events += f.path().filename().string().starts_with("events.out");
  EXPECT_EQ(events, 1);
}

TEST_F(DefaultsTest, stand_a_second_one_beside_them) {
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), averaged_cost, [] { return GradientDescent(0.01); });
  const TrainEnd end = trainer.train_with_defaults(
      {.callbacks = {EarlyStopping("cost", {.patience = 99}), MergeAllSummaries({.period = 2})},
       .steps_per_epoch = 4,
       .max_epoch = 3});
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  std::vector<int64_t> steps;
  for (const auto& [step, value] : trainer.monitors().get_history("cost")) steps.push_back(step);
  EXPECT_EQ(steps, (std::vector<int64_t>{2, 4, 6, 8, 10, 12})) << "what both put in one step is one value";
  const auto rows = load_stats(dir_ + "/stats.jsonl");
  ASSERT_EQ(rows.size(), 6);
  EXPECT_EQ(rows[5].scalars[0].second, trainer.monitors().get_latest("cost"));
}

TEST_F(DefaultsTest, give_way_to_others) {
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), averaged_cost, [] { return GradientDescent(0.01); });
  const TrainEnd end = trainer.train_with_defaults({.extra_callbacks = CallbackList{},
                                                    .monitors = std::vector<Ref<Monitor>>{},
                                                    .steps_per_epoch = 4,
                                                    .max_epoch = 1});
  ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_EQ(trainer.sess().get("bn/mean/EMA").at(0), 0);
  EXPECT_FALSE(fs::exists(dir_ + "/stats.jsonl"));
}

}  // namespace
}  // namespace martello
