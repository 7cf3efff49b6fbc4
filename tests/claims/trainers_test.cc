// Claims of docs/claims.md about the loop, trainers and callbacks.
#include <martello/base/internal/test_text.h>
#include <martello/martello.h>
#include <martello/testing/recording_callback.h>
#include <martello/train/internal/test_models.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;
using testing::Events;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;
using testing::RecordingCallback;

OptimizerRef descent() { return GradientDescent(0.05); }

int64_t count(const Events& events, const std::string& part) {
  int64_t n = 0;
  for (const std::string& e : events) n += e.find(part) != std::string::npos;
  return n;
}

TEST(TrainerClaims, epochs_change_when_callbacks_run_and_nothing_else) {
  std::vector<HostTensor> learned;
  for (const int64_t epochs : {1, 3, 12}) {
    const auto events = make<Events>();
    SimpleTrainer trainer;
    trainer.setup_graph(kLineSignature, LineInput(), line_cost, descent);
    const TrainEnd end = trainer.train(
        {.callbacks = {RecordingCallback("A", events)}, .steps_per_epoch = 12 / epochs, .max_epoch = epochs});
    EXPECT_EQ(end.reason, TrainEnd::finished);
    EXPECT_EQ(count(*events, "trigger_epoch"), epochs);
    EXPECT_EQ(count(*events, "trigger_step"), 12);
    learned.push_back(trainer.sess().get("line/w"));
  }
  EXPECT_TRUE(learned[0].same_bits(learned[1]));
  EXPECT_TRUE(learned[0].same_bits(learned[2]));
}

// Writes down what every step was fed.
struct Watch : Callback {
  explicit Watch(std::shared_ptr<std::vector<float>> list) : seen(std::move(list)) {}
  void setup_graph() override { x = context().get_tensor("x"); }
  void before_run(RunContext& run) override { run.fetch(x); }
  void after_run(RunContext& run) override { seen->push_back(run.value().scalar<float>()); }
  Tensor x;
  std::shared_ptr<std::vector<float>> seen;
};

TEST(TrainerClaims, an_epoch_has_nothing_to_do_with_the_data) {
  const auto five = data::from_index(5, [](int64_t i, Rng&) { return Datapoint{float(i)}; });
  const auto seen = make<std::vector<float>>();
  SimpleTrainer trainer;
  trainer.setup_graph(
      {{{}, f32, "x"}}, FeedInput(five), [](Tensor x) { return square(x - get_variable("w")); }, descent);
  const TrainEnd end = trainer.train({.callbacks = {Watch(seen)}, .steps_per_epoch = 3, .max_epoch = 4});
  EXPECT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_EQ(*seen, (std::vector<float>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1}));
}

TEST(TrainerClaims, train_sets_callbacks_up_then_makes_the_graph_final_then_runs) {
  const GraphScope scope;
  const auto x = get_variable("x", {.initializer = constant_init(4)});
  Trainer trainer;
  trainer.train_op = assign_add(x, 1);
  Events order;
  CallbackHooks hooks;
  hooks.setup_graph = [&](TrainContext& c) {
    order.push_back("setup");
    EXPECT_FALSE(c.graph().is_finalized());
    EXPECT_NO_THROW(square(x, "of_a_callback"));
  };
  hooks.before_train = [&](TrainContext& c) {
    order.push_back("before_train");
    EXPECT_TRUE(c.graph().is_finalized());
    EXPECT_EQ(c.loop().global_step, 0);
    EXPECT_EQ(c.sess().eval(c.get_tensor("x")).scalar<float>(), 4) << "variables are initialized";
    const GraphScope same(c.graph());
    EXPECT_THROW(square(x), Error);
  };
  hooks.trigger = [&](TrainContext&) { order.push_back("trigger"); };
  const TrainEnd end =
      trainer.train({.callbacks = {CallbackFactory(std::move(hooks))}, .steps_per_epoch = 2, .max_epoch = 1});
  EXPECT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_EQ(order, (Events{"setup", "before_train", "trigger"}));
  EXPECT_EQ(trainer.sess().eval(x).scalar<float>(), 6);
}

struct OneOfEach : Trainer {
  using Trainer::Trainer;
  void run_step() override {
    sess().run(train_op);
    hooked_sess().run(train_op);
    sess().run(train_op);
  }
};

TEST(TrainerClaims, only_hooked_runs_call_hooks_and_count) {
  const GraphScope scope;
  const auto x = get_variable("x", {.initializer = zeros()});
  const auto events = make<Events>();
  OneOfEach trainer;
  trainer.train_op = assign_add(x, 1);
  EXPECT_EQ(trainer.train({.callbacks = {RecordingCallback("A", events)}, .steps_per_epoch = 5, .max_epoch = 1}).reason,
            TrainEnd::finished);
  EXPECT_EQ(trainer.sess().eval(x).scalar<float>(), 15);
  EXPECT_EQ(count(*events, "before_run"), 5);
  EXPECT_EQ(count(*events, "after_run"), 5);
  EXPECT_EQ(trainer.loop().global_step, 5);
}

// Two costs on one set of variables, which no trainer of the library does.
class TugOfWar : public TowerTrainer {
 public:
  TugOfWar() {
    const GraphScope scope(graph());
    set_tower_func(TowerFunc::with_outputs(
        [](const TensorList& in) {
          const auto w = get_variable("w", {.initializer = zeros()});
          identity(in[0] * w, "product");
          return TensorList{square(w - 1), square(w + in[0])};
        },
        {{{}, f32, "pull"}}));
    TensorList costs;
    {
      const TowerContext tower("", true);
      costs = tower_func()({constant(3.f, "pull")});
    }
    const auto w = trainable_variables();
    left_ = GradientDescent(0.25).minimize(costs[0], w, "left");
    right_ = GradientDescent(0.25).minimize(costs[1], w, "right");
  }

 protected:
  void run_step() override { hooked_sess().run(loop().local_step % 2 == 0 ? left_ : right_); }

 private:
  Operation left_, right_;
};

TEST(TrainerClaims, a_tower_trainer_of_ones_own_has_predictors) {
  TugOfWar trainer;
  const OnlinePredictor product = trainer.get_predictor({"pull"}, {"product"});
  EXPECT_EQ(trainer.train({.steps_per_epoch = 2, .max_epoch = 1}).reason, TrainEnd::finished);
  // 0 is pulled halfway to 1, then halfway to -3
  EXPECT_NEAR(product({HostTensor(2.f)})[0].at(0), -2.5, 1e-6);
}

}  // namespace
}  // namespace martello
