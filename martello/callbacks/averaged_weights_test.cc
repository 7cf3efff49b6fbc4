#include <martello/base/internal/test_text.h>
#include <martello/callbacks/averaged_weights.h>
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

// Notes a variable in every step and on every trigger.
struct Look : Callback {
  double w() const { return sess().get("line/w").at(0); }
  void trigger_step() override { steps.push_back(w()); }
  void trigger() override {
    triggers.push_back(w());
    if (is_failing) throw InvalidArgument("[look] away");
  }
  std::vector<double> steps, triggers;
  bool is_failing = false;
};

struct AveragedWeightsTest : ::testing::Test {
  Log log;
  SimpleTrainer trainer;
  std::shared_ptr<Look> plain = make<Look>(), averaged = make<Look>();
  AveragedWeightsTest() {
    trainer.setup_graph(kLineSignature, LineInput(), line_cost, [] { return GradientDescent(0.05); });
  }
  TrainEnd train(const AveragedWeightsOptions& options) {
    const auto averages = make<AveragedWeights>(options);
    return trainer.train({.callbacks = {WithAveragedWeights(averages, averaged), plain, averages},
                          .steps_per_epoch = 4,
                          .max_epoch = 2});
  }
};

TEST_F(AveragedWeightsTest, evaluate_with_averages_and_go_on_with_weights) {
  EXPECT_EQ(train({.decay = 0.5, .warm_up = false}).reason, TrainEnd::finished);
  ASSERT_EQ(plain->steps.size(), 8u);
  double average = 0;  // where w starts
  for (size_t i = 0; i < 8; ++i) {
    average = 0.5 * average + 0.5 * plain->steps[i];
    if (i == 3) {
      EXPECT_NEAR(averaged->triggers[0], average, 1e-6);
    }
  }
  EXPECT_NEAR(averaged->triggers[1], average, 1e-6);
  EXPECT_EQ(plain->triggers, (std::vector<double>{plain->steps[3], plain->steps[7]}));
  EXPECT_NE(averaged->triggers[1], plain->triggers[1]);
}

TEST_F(AveragedWeightsTest, follow_faster_in_the_beginning) {
  EXPECT_EQ(train({.decay = 0.999}).reason, TrainEnd::finished);
  double average = 0;
  for (size_t i = 0; i < 4; ++i) {
    const double n = static_cast<double>(i + 1), decay = std::min(0.999, (1 + n) / (10 + n));
    average = decay * average + (1 - decay) * plain->steps[i];
  }
  EXPECT_NEAR(averaged->triggers[0], average, 1e-6);
}

TEST_F(AveragedWeightsTest, are_back_after_an_error) {
  averaged->is_failing = true;
  struct Last : Callback {
    void after_train() override { value = sess().get("line/w").at(0); }
    double value = 0;
  };
  const auto last = make<Last>();
  trainer.register_callback(last);
  const TrainEnd end = train({.decay = 0.5, .warm_up = false});
  EXPECT_EQ(end.reason, TrainEnd::failed);
  EXPECT_CONTAINS(end.message, "[look] away");
  EXPECT_EQ(last->value, averaged->steps[3]);
  EXPECT_NE(last->value, averaged->triggers[0]);
}

TEST_F(AveragedWeightsTest, start_from_weights_that_were_loaded) {
  struct Load : SessionInit {
    void run_init(Session& session) override { session.set("line/w", 100.0f); }
  };
  const auto averages = make<AveragedWeights>(AveragedWeightsOptions{.decay = 0.75, .warm_up = false});
  EXPECT_EQ(trainer
                .train({.callbacks = {averages, WithAveragedWeights(averages, averaged)},
                        .session_init = Load(),
                        .steps_per_epoch = 1,
                        .max_epoch = 1})
                .reason,
            TrainEnd::finished);
  EXPECT_NEAR(averaged->triggers[0], 0.75 * 100 + 0.25 * averaged->steps[0], 1e-4);
}

TEST_F(AveragedWeightsTest, may_be_of_some_variables) {
  const std::string text = error_of([&] { (void)train({.variables = "conv.*"}); });
  for (const char* part : {"\"conv.*\"", "line/w", "line/b"}) EXPECT_CONTAINS(text, part);
  EXPECT_CONTAINS(error_of([] { AveragedWeights({.decay = 1}); }), ".decay is 1");
}

TEST_F(AveragedWeightsTest, must_be_among_the_callbacks) {
  const auto train_without = [&] {
    (void)trainer.train(
        {.callbacks = {WithAveragedWeights(make<AveragedWeights>(), averaged)}, .steps_per_epoch = 1, .max_epoch = 1});
  };
  EXPECT_CONTAINS(error_of(train_without),
                  "[WithAveragedWeights(Look)] its AveragedWeights is not among the callbacks");
  EXPECT_CONTAINS(error_of([&] { WithAveragedWeights(nullptr, averaged); }), "was given no AveragedWeights");
}

}  // namespace
}  // namespace martello
