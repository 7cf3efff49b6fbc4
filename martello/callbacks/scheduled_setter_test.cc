// The expectations of tensorpack's own tests of its setters, and what we refuse.
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/scheduled_setter.h>
#include <martello/graph/scopes.h>
#include <martello/ops/variable.h>
#include <martello/train/single_cost_trainer.h>

#include <map>

namespace martello {
namespace {

using testing::error_of;
using testing::Log;
using Sets = std::map<int64_t, double>;  // by global_step

struct ScheduledSetterTest : ::testing::Test {
  NoOpTrainer trainer;
  double value = 1;
  Sets sets;
  Log log;

  ObjAttrParam param() {
    return ObjAttrParam(
        "param", [this] { return value; },
        [this](double v) {
          value = v;
          sets[trainer.loop().global_step] = v;
        });
  }
  TrainEnd end_of(std::vector<SchedulePoint> schedule, ScheduleOptions options, TrainOptions t) {
    t.callbacks = {ScheduledHyperParamSetter(param(), std::move(schedule), options)};
    return trainer.train(std::move(t));
  }
  void train(std::vector<SchedulePoint> schedule, ScheduleOptions options, TrainOptions t) {
    EXPECT_EQ(end_of(std::move(schedule), options, std::move(t)).reason, TrainEnd::finished);
  }
  bool has_warned() const {
    return std::any_of(log.lines.begin(), log.lines.end(),
                       [](const std::string& line) { return line.find("should be") != std::string::npos; });
  }
};

const std::vector<SchedulePoint> kEpochs = {{10, .3}, {20, .4}, {30, .5}};

TEST_F(ScheduledSetterTest, interpolates_between_steps) {
  train({{30, .3}, {40, .4}, {50, .5}}, {.interp = Interp::linear, .step_based = true},
        {.steps_per_epoch = 10, .starting_epoch = 20, .max_epoch = 50});
  EXPECT_EQ(sets.begin()->first, 30);
  EXPECT_EQ(sets.rbegin()->first, 50);
  EXPECT_EQ(sets.size(), 21u);
  for (const auto& [step, v] : Sets{{30, .3}, {40, .4}, {45, .45}, {50, .5}}) EXPECT_NEAR(sets.at(step), v, 1e-12);
}

TEST_F(ScheduledSetterTest, sets_after_the_epochs_of_its_points) {
  train(kEpochs, {}, {.steps_per_epoch = 1, .max_epoch = 50});
  EXPECT_EQ(sets, (Sets{{10, .3}, {20, .4}, {30, .5}}));
  EXPECT_FALSE(has_warned());
}

TEST_F(ScheduledSetterTest, points_may_come_in_any_order) {
  train({{30, .5}, {10, .3}, {20, .4}}, {}, {.steps_per_epoch = 1, .max_epoch = 50});
  EXPECT_EQ(sets, (Sets{{10, .3}, {20, .4}, {30, .5}}));
}

TEST_F(ScheduledSetterTest, a_late_start_takes_what_would_have_been_set) {
  train(kEpochs, {}, {.steps_per_epoch = 1, .starting_epoch = 90, .max_epoch = 92});
  EXPECT_EQ(sets, (Sets{{0, .5}}));
  EXPECT_TRUE(has_warned());
}

TEST_F(ScheduledSetterTest, a_late_start_leaves_it_when_asked_to) {
  train(kEpochs, {.set_at_beginning = false}, {.steps_per_epoch = 1, .starting_epoch = 90, .max_epoch = 92});
  EXPECT_EQ(sets, Sets());
  EXPECT_TRUE(has_warned());
  EXPECT_CONTAINS(join(log.lines, "\n"), "it stays 1, because .set_at_beginning is off");
}

TEST_F(ScheduledSetterTest, warns_of_another_value_at_the_start) {
  train(kEpochs, {}, {.steps_per_epoch = 1, .starting_epoch = 20, .max_epoch = 50});
  EXPECT_TRUE(has_warned());
  EXPECT_EQ(sets.at(0), .3);
}

TEST_F(ScheduledSetterTest, does_not_warn_of_the_same_value) {
  train({{10, .3}, {20, 1.0}, {30, 1.5}}, {}, {.steps_per_epoch = 1, .starting_epoch = 21, .max_epoch = 50});
  EXPECT_FALSE(has_warned());
}

TEST_F(ScheduledSetterTest, zero_is_a_value) {
  train({{10, 0}}, {}, {.steps_per_epoch = 1, .starting_epoch = 20, .max_epoch = 20});
  EXPECT_EQ(sets, (Sets{{0, 0}}));
}

TEST_F(ScheduledSetterTest, point_zero_is_before_the_first_epoch) {
  train({{0, .1}, {2, .2}}, {}, {.steps_per_epoch = 3, .max_epoch = 3});
  EXPECT_EQ(sets, (Sets{{0, .1}, {6, .2}}));
}

TEST_F(ScheduledSetterTest, logs_a_change_with_both_values) {
  train({{1, .3}, {2, .4}}, {}, {.steps_per_epoch = 1, .max_epoch = 2});
  const std::string all = join(log.lines, "\n");
  EXPECT_CONTAINS(all, "[ScheduledHyperParamSetter] At global_step=1, param is set to 0.3.");
  EXPECT_CONTAINS(all, "[ScheduledHyperParamSetter] At global_step=2, param changes from 0.3 to 0.4.");
}

TEST_F(ScheduledSetterTest, logs_once_per_epoch) {
  train({{0, 0}, {100, 1}}, {.interp = Interp::linear, .step_based = true}, {.steps_per_epoch = 50, .max_epoch = 2});
  const auto is_change = [](const std::string& l) { return l.find("At global_step=") != std::string::npos; };
  EXPECT_EQ(std::count_if(log.lines.begin(), log.lines.end(), is_change), 3);  // before training and in two epochs
}

TEST_F(ScheduledSetterTest, refuses_a_schedule_that_never_applies) {
  const std::string text = error_of([&] { train({{10, .3}}, {}, {.steps_per_epoch = 1, .max_epoch = 9}); });
  for (const char* part : {"'param'", "never applies", "epoch 10", "epoch 9"}) EXPECT_CONTAINS(text, part);
  EXPECT_EQ(trainer.loop().global_step, 0);
}

TEST_F(ScheduledSetterTest, refuses_steps_that_are_never_reached) {
  const TrainEnd end = end_of({{31, .3}}, {.step_based = true}, {.steps_per_epoch = 10, .max_epoch = 3});
  EXPECT_EQ(end.reason, TrainEnd::failed);
  EXPECT_CONTAINS(end.message, "global_step 31");
  EXPECT_EQ(trainer.loop().global_step, 0);
}

TEST_F(ScheduledSetterTest, refuses_points_that_are_none) {
  EXPECT_CONTAINS(error_of([&] { ScheduledHyperParamSetter("lr", {}); }), "schedule is empty");
  EXPECT_CONTAINS(error_of([&] { ScheduledHyperParamSetter("lr", {{-1, 1}}); }), "point -1");
  EXPECT_CONTAINS(error_of([&] { ScheduledHyperParamSetter("lr", {{1.5, 1}}); }), "point 1.5");
  const std::string text = error_of([&] { ScheduledHyperParamSetter("lr", {{1, 1}, {1, 2}}); });
  EXPECT_CONTAINS(text, "'lr'] point 1 has two values, 1 and 2");
  EXPECT_CONTAINS(text, "scheduled_setter_test.cc");
}

TEST(graph_var_param, sets_a_variable) {
  const GraphScope g;
  get_scalar_var("learning_rate", 0.1);
  NoOpTrainer trainer;
  struct Look : Callback {
    void after_train() override { value = sess().get("learning_rate").at(0); }
    double value = 0;
  };
  const auto look = make<Look>();
  EXPECT_EQ(trainer
                .train({.callbacks = {look, ScheduledHyperParamSetter("learning_rate", {{1, 0.25}})},
                        .steps_per_epoch = 1,
                        .max_epoch = 1})
                .reason,
            TrainEnd::finished);
  EXPECT_EQ(look->value, 0.25);
}

TEST(graph_var_param, refuses_names_shapes_and_values) {
  const GraphScope g;
  get_scalar_var("learning_rate", 0.1);
  get_variable("w", {.shape = Shape(2)});
  get_variable("k", {.dtype = i32, .trainable = false});
  const auto error = [](std::string name, double value) {
    NoOpTrainer trainer;
    return error_of([&] {
      (void)trainer.train(
          {.callbacks = {ScheduledHyperParamSetter(name, {{1, value}})}, .steps_per_epoch = 1, .max_epoch = 1});
    });
  };
  EXPECT_CONTAINS(error("learning_rte", 1), "no variable 'learning_rte'. Did you mean 'learning_rate'?");
  EXPECT_CONTAINS(error("learning_rte", 1), "scheduled_setter_test.cc");
  EXPECT_CONTAINS(error("w", 1), "'w' is f32[2], not a scalar");
  EXPECT_CONTAINS(error("k", 0.5), "'k' is i32 and cannot hold 0.5");
}

}  // namespace
}  // namespace martello
