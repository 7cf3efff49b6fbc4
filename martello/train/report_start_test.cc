#include <martello/base/internal/test_text.h>
#include <martello/callbacks/wrappers.h>
#include <martello/data/sources.h>
#include <martello/input/feed_input.h>
#include <martello/train/internal/test_actor.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;
using testing::Log;

int count(const Log& log, const std::string& part) {
  int found = 0;
  for (const std::string& line : log.lines) found += line.find(part) != std::string::npos;
  return found;
}

TEST(ReportStart, tells_the_environment_and_then_the_batch) {
  Log log;
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), line_cost, [] { return GradientDescent(0.01); });
  EXPECT_EQ(trainer.train({.steps_per_epoch = 3, .max_epoch = 2, .session = {.threads = 1}}).reason,
            TrainEnd::finished);
  EXPECT_EQ(count(log, "Environment\n  Martello: "), 1);
  EXPECT_EQ(count(log, "Devices: cpu:0\n  Threads: 1 of "), 1);
  EXPECT_EQ(count(log, "Command: "), 1);
  EXPECT_EQ(count(log, "global batch: 4 samples; samples per epoch: 12."), 1);
}

TEST(ReportStart, knows_a_batch_of_the_signature_at_once) {
  Log log;
  SimpleTrainer trainer;
  trainer.setup_graph({{{8}, f32, "x"}, {{8}, f32, "y"}},
                      FeedInput(data::fake({{{}, f32, "x"}, {{}, f32, "y"}}, 40).batch(8)), line_cost,
                      [] { return GradientDescent(0.01); });
  EXPECT_EQ(trainer.train({.steps_per_epoch = 5, .max_epoch = 1}).reason, TrainEnd::finished);
  EXPECT_EQ(count(log, "Global batch: 8\n  Samples per epoch: 40\n"), 1);
  EXPECT_EQ(count(log, "global batch:"), 0);
}

TEST(ReportStart, does_not_guess) {
  Log log;
  testing::Counting trainer;
  EXPECT_EQ(trainer.train({.steps_per_epoch = 2, .max_epoch = 1}).reason, TrainEnd::finished);
  EXPECT_EQ(count(log, "Environment\n"), 1);
  EXPECT_EQ(count(log, "lobal batch:"), 0);
}

}  // namespace
}  // namespace martello
