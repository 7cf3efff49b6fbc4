// A mode of two towers on two devices: what comes later needs no change in the trainers.
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

// Gives tower i two of the four samples.
class HalvesInput : public InputSource {
 public:
  TensorList get_input_tensors() override {
    const float first = 2.f * static_cast<float>(calls_++ % 2);
    return {constant(HostTensor::of<float>({first, first + 1}), "x"),
            constant(HostTensor::of<float>({2 * first + 1, 2 * first + 3}), "y")};
  }

 private:
  int calls_ = 0;
};

// The mean gradient, applied once; variables are shared, or of each tower's own.
class MeanMode : public ParallelMode {
 public:
  explicit MeanMode(bool has_own) : has_own_(has_own) {}
  std::vector<TowerSpec> towers() const override {
    return {{.name = "tower0", .device = "cpu:0"},
            {.name = "tower1", .variable_scope = has_own_ ? "tower1" : "", .device = "cpu:1"}};
  }
  Operation apply(const std::vector<GradVars>& by_tower, Optimizer& optimizer, Name name) override {
    GradVars mean = by_tower[0];
    for (size_t i = 0; i < mean.size(); ++i) mean[i].grad = (by_tower[0][i].grad + by_tower[1][i].grad) * 0.5;
    return optimizer.apply_gradients(mean, name);
  }

 private:
  bool has_own_;
};

OptimizerRef descent() { return GradientDescent(0.05); }

TEST(ParallelMode, two_towers_of_half_a_batch_train_like_one) {
  SingleCostTrainer two(MeanMode(false));
  two.setup_graph(kLineSignature, HalvesInput(), line_cost, descent);
  SimpleTrainer one;
  one.setup_graph(kLineSignature, LineInput(), line_cost, descent);
  EXPECT_EQ(two.train({.steps_per_epoch = 20, .max_epoch = 1}).reason, TrainEnd::finished);
  EXPECT_EQ(one.train({.steps_per_epoch = 20, .max_epoch = 1}).reason, TrainEnd::finished);
  EXPECT_NEAR(two.sess().get("line/w").at(0), one.sess().get("line/w").at(0), 1e-5);
  EXPECT_EQ(two.towers()["tower1"]["cost"].name(), "tower1/cost");
}

TEST(ParallelMode, variables_of_a_further_tower_are_local) {
  SingleCostTrainer trainer(MeanMode(true));
  trainer.setup_graph(kLineSignature, HalvesInput(), line_cost, descent);
  std::vector<std::string> global, local;
  for (const Variable& v : trainer.graph().collections().get(kGlobalVariables)) global.push_back(v.handle().name());
  for (const Variable& v : trainer.graph().collections().get(kLocalVariables)) local.push_back(v.handle().name());
  EXPECT_EQ(global, (std::vector<std::string>{"line/w", "line/b"}));
  EXPECT_EQ(local, (std::vector<std::string>{"tower1/line/w", "tower1/line/b"}));
  const OnlinePredictor first = trainer.get_predictor({"x"}, {"line/w"}, 0),
                        second = trainer.get_predictor({"x"}, {"line/w"}, 1),
                        third = trainer.get_predictor({"x"}, {"line/w"}, 7);
  EXPECT_EQ(first.outputs()[0].name(), "line/w");
  EXPECT_EQ(second.outputs()[0].name(), "tower1/line/w") << "those of the training tower on its device";
  EXPECT_EQ(third.outputs()[0].name(), "line/w") << "else the first one's";
}

TEST(ParallelMode, one_set_of_placeholders_does_not_serve_two_towers) {
  SingleCostTrainer trainer(MeanMode(false));
  EXPECT_CONTAINS(error_of([&] { trainer.setup_graph(kLineSignature, LineInput(), line_cost, descent); }),
                  "all 2 towers the same tensors");
}

TEST(ParallelMode, towers_that_differ_are_refused) {
  int calls = 0;
  SingleCostTrainer trainer(MeanMode(true));
  const std::string text = error_of([&] {
    trainer.setup_graph(
        kLineSignature, HalvesInput(),
        [&](Tensor x, Tensor y) { return calls++ == 0 ? line_cost(x, y) : line_cost(x, y) * get_variable("more"); },
        descent);
  });
  for (const char* part : {"rule 1", "'tower1'", "'more'"}) EXPECT_CONTAINS(text, part);
}

TEST(ParallelMode, gradients_are_compared_by_name) {
  const GraphScope scope;
  const auto a = get_variable("a"), b = get_variable("b"), c = get_variable("t1/a");
  const std::vector<TowerSpec> towers = {{.name = "t0"}, {.name = "t1", .variable_scope = "t1"}};
  EXPECT_NO_THROW(check_same_gradients({{{a, a}}, {{c, c}}}, towers));
  EXPECT_CONTAINS(error_of([&] { check_same_gradients({{{a, a}}, {{b, b}}}, towers); }), "'b'");
  EXPECT_CONTAINS(error_of([&] { check_same_gradients({{{a, a}, {b, b}}, {{c, c}}}, towers); }), "1 variables");
}

}  // namespace
}  // namespace martello
