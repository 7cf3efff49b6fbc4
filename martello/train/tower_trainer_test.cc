#include <martello/base/internal/test_text.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>

#include <functional>

namespace martello {
namespace {

using testing::error_of;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;

struct Watch : Callback {
  std::function<void(TrainContext&)> in_setup, in_trigger;
  void setup_graph() override {
    if (in_setup) in_setup(context());
  }
  void trigger() override {
    if (in_trigger) in_trigger(context());
  }
};

struct TowerTrainerTest : ::testing::Test {
  TowerTrainerTest() {
    trainer.setup_graph(kLineSignature, LineInput(), line_cost, [] { return GradientDescent(0.05); });
  }
  TrainEnd train(CallbackList callbacks = {}) {
    return trainer.train({.callbacks = std::move(callbacks), .steps_per_epoch = 50, .max_epoch = 2});
  }
  SimpleTrainer trainer;
};

TEST_F(TowerTrainerTest, a_predictor_reads_what_training_has_learned) {
  const auto watch = make<Watch>();
  OnlinePredictor predict;
  std::vector<double> predicted;
  watch->in_setup = [&](TrainContext& c) { predict = c.get_predictor({"x"}, {"prediction"}); };
  watch->in_trigger = [&](TrainContext&) { predicted.push_back(predict({HostTensor::of<float>({10})})[0].at(0)); };
  EXPECT_EQ(train({watch}).reason, TrainEnd::finished);
  ASSERT_EQ(predicted.size(), 2u);
  EXPECT_NEAR(predicted[1], 21, 0.5);
  EXPECT_LT(std::abs(predicted[1] - 21), std::abs(predicted[0] - 21));
  EXPECT_EQ(trainer.loop().global_step, 100) << "predictions are no steps";
}

TEST_F(TowerTrainerTest, one_tower_per_device_and_the_same_names_give_the_same_predictor) {
  const OnlinePredictor a = trainer.get_predictor({"x"}, {"prediction"});
  const size_t size = trainer.graph().size();
  const OnlinePredictor b = trainer.get_predictor({"x"}, {"prediction"}), c = trainer.get_predictor({"x"}, {"cost"});
  EXPECT_EQ(trainer.graph().size(), size);
  EXPECT_EQ(a.outputs()[0], b.outputs()[0]);
  EXPECT_EQ(c.outputs()[0].name(), "tower-pred-0/cost");
  trainer.get_predictor({"x"}, {"prediction"}, -1);
  trainer.get_predictor({"x"}, {"prediction"}, 1);
  std::vector<std::string> names;
  for (const TowerHandle& t : trainer.towers()) names.push_back(t.name());
  EXPECT_EQ(names, (std::vector<std::string>{"", "tower-pred-0", "tower-pred-cpu", "tower-pred-1"}));
  EXPECT_EQ(trainer.towers().training().size(), 1u);
}

TEST_F(TowerTrainerTest, a_predictor_after_the_graph_is_final_needs_its_tower) {
  const auto watch = make<Watch>();
  watch->in_setup = [](TrainContext& c) { c.get_predictor({"x"}, {"prediction"}); };
  watch->in_trigger = [&](TrainContext& c) {
    EXPECT_EQ(c.get_predictor({"x"}, {"prediction"})({HostTensor({3}, f32)})[0].num_elements(), 3);
    EXPECT_NO_THROW(c.get_predictor({"y"}, {"y"}));
    const std::string text = error_of<FailedPrecondition>([&] { c.get_predictor({"x"}, {"prediction"}, -1); });
    for (const char* part : {"'tower-pred-cpu'", "final"}) EXPECT_CONTAINS(text, part);
  };
  EXPECT_EQ(train({watch}).reason, TrainEnd::finished);
}

TEST_F(TowerTrainerTest, says_what_a_predictor_cannot_find) {
  const std::string text = error_of<NotFound>([&] { trainer.get_predictor({"x"}, {"predictoin"}); });
  for (const char* part : {"tower-pred-0", "'predictoin'", "'prediction'"}) EXPECT_CONTAINS(text, part);
}

TEST_F(TowerTrainerTest, callbacks_build_inference_towers_of_their_own) {
  const auto watch = make<Watch>();
  Tensor cost;
  watch->in_setup = [&](TrainContext& c) {
    EXPECT_EQ(c.input_signature().size(), 2u);
    const TowerHandle tower = c.build_predict_tower("InferenceTower", 0, nullptr, [] {
      return TensorList{constant(HostTensor::of<float>({1, 2}), "x"), constant(HostTensor::of<float>({3, 5}), "y")};
    });
    cost = tower["cost"];
    EXPECT_EQ(cost.name(), "InferenceTower/cost");
    EXPECT_THROW(c.build_predict_tower("InferenceTower", 0, nullptr, [] { return TensorList(); }), Error)
        << "two runners with one tower name";
  };
  double last = 1e9;
  watch->in_trigger = [&](TrainContext& c) { last = c.sess().eval(cost).at(0); };
  EXPECT_EQ(train({watch}).reason, TrainEnd::finished);
  EXPECT_LT(last, 0.1);
}

TEST_F(TowerTrainerTest, tensors_are_found_in_the_first_training_tower) {
  const auto watch = make<Watch>();
  watch->in_setup = [&](TrainContext& c) {
    EXPECT_EQ(c.get_tensor("cost").name(), "cost");
    EXPECT_EQ(c.get_tensor("line/w").name(), "line/w");
    EXPECT_EQ(c.get_tensor("y"), c.towers()[0].inputs()[1]);
  };
  EXPECT_EQ(train({watch}).reason, TrainEnd::finished);
}

}  // namespace
}  // namespace martello
