// Claims of docs/claims.md about towers and tower functions.
#include <martello/base/internal/test_text.h>
#include <martello/martello.h>
#include <martello/train/internal/test_models.h>

#include <gtest/gtest.h>

#include <type_traits>

namespace martello {
namespace {

using testing::error_of;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;
using testing::LineModel;

template <class... Trainers>
constexpr bool are_tower_trainers = (std::is_base_of_v<TowerTrainer, Trainers> && ...);

TEST(TowerClaims, every_trainer_of_the_library_is_a_tower_trainer) {
  EXPECT_TRUE((are_tower_trainers<SingleCostTrainer, SimpleTrainer, NoOpTrainer, QueueInputTrainer, MultiCostTrainer,
                                  GANTrainer, SeparateGANTrainer>));
}

struct Untold : TowerTrainer {};

TEST(TowerClaims, a_tower_trainer_needs_a_tower_function) {
  Untold trainer;
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { trainer.towers(); }), "tower function");
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { trainer.get_predictor({"x"}, {"y"}); }), "tower function");
}

// Each tower takes a batch of its own: `sizes[i]` samples for tower i, of the line y = 2 x + 1.
class BatchPerTower : public InputSource {
 public:
  explicit BatchPerTower(std::vector<int> sizes) : sizes_(std::move(sizes)) {}
  TensorList get_input_tensors() override {
    std::vector<float> x, y;
    for (int i = 0; i < sizes_[calls_ % sizes_.size()]; ++i) x.push_back(float(i)), y.push_back(2 * float(i) + 1);
    ++calls_;
    const auto n = static_cast<int64_t>(x.size());
    return {constant(HostTensor::from<float>(x, {n}), "x"), constant(HostTensor::from<float>(y, {n}), "y")};
  }
  std::optional<int64_t> size() const override { return 7; }

 private:
  std::vector<int> sizes_;
  size_t calls_ = 0;
};

// Two towers on two devices, whose mean gradient is applied once.
struct TwoTowers : ParallelMode {
  std::vector<TowerSpec> towers() const override {
    return {{.name = "tower0", .device = "cpu:0"}, {.name = "tower1", .device = "cpu:1"}};
  }
  Operation apply(const std::vector<GradVars>& by_tower, Optimizer& optimizer, Name name) override {
    GradVars mean = by_tower[0];
    for (size_t i = 0; i < mean.size(); ++i) mean[i].grad = (by_tower[0][i].grad + by_tower[1][i].grad) * 0.5;
    return optimizer.apply_gradients(mean, name);
  }
};

OptimizerRef descent() { return GradientDescent(0.05); }

TEST(TowerClaims, the_function_is_called_once_per_tower_and_once_per_predictor_device) {
  int calls = 0;
  SingleCostTrainer trainer{TwoTowers()};
  trainer.setup_graph(
      kLineSignature, BatchPerTower({4}),
      [&](Tensor x, Tensor y) {
        ++calls;
        return line_cost(x, y);
      },
      descent);
  EXPECT_EQ(calls, 2);
  trainer.get_predictor({"x"}, {"prediction"}, 0);
  EXPECT_EQ(calls, 3);
  trainer.get_predictor({"x"}, {"cost"}, 0);
  EXPECT_EQ(calls, 3) << "the same device has its tower";
  trainer.get_predictor({"x"}, {"prediction"}, 1);
  EXPECT_EQ(calls, 4);
}

TEST(TowerClaims, a_call_adds_one_copy_of_the_model) {
  SingleCostTrainer trainer{TwoTowers()};
  trainer.setup_graph(kLineSignature, BatchPerTower({4}), line_cost, descent);
  for (const TowerHandle& tower : trainer.towers()) {
    EXPECT_EQ(tower["prediction"].name(), tower.name() + "/prediction");
    EXPECT_THROW(tower.get_tensor("prediction_1"), NotFound);
  }
  EXPECT_EQ(trainer.graph().collections().get(kTrainableVariables).size(), 2u) << "shared by both towers";
}

TEST(TowerClaims, the_simple_trainer_builds_once_and_once_more_for_inference) {
  for (const bool has_inference : {false, true}) {
    int calls = 0;
    SimpleTrainer trainer;
    trainer.setup_graph(
        kLineSignature, LineInput(),
        [&](Tensor x, Tensor y) {
          ++calls;
          return line_cost(x, y);
        },
        descent);
    CallbackHooks hooks;
    if (has_inference) hooks.setup_graph = [](TrainContext& c) { c.get_predictor({"x"}, {"prediction"}); };
    const TrainEnd end =
        trainer.train({.callbacks = {CallbackFactory(std::move(hooks))}, .steps_per_epoch = 2, .max_epoch = 1});
    EXPECT_EQ(end.reason, TrainEnd::finished) << end.message;
    EXPECT_EQ(calls, has_inference ? 2 : 1);
  }
}

struct TowerSeen {
  std::string name;
  bool is_training;
  bool operator==(const TowerSeen&) const = default;
};

struct Curious : LineModel {
  explicit Curious(std::shared_ptr<std::vector<TowerSeen>> towers) : seen(std::move(towers)) {}
  Tensor build_graph(TensorList in) const override {
    const TowerContext& tower = get_current_tower_context();
    EXPECT_EQ(tower.is_training(), training());
    seen->push_back({tower.name(), tower.is_training()});
    return LineModel::build_graph(in);
  }
  std::shared_ptr<std::vector<TowerSeen>> seen;
};

TEST(TowerClaims, build_graph_of_a_model_is_called_in_a_tower) {
  const auto seen = make<std::vector<TowerSeen>>();
  CallbackHooks hooks{.setup_graph = [](TrainContext& c) { c.get_predictor({"x"}, {"prediction"}); }};
  const TrainConfig config{.model = Curious(seen),
                           .data = LineInput(),
                           .callbacks = {CallbackFactory(std::move(hooks))},
                           .extra_callbacks = CallbackList{},
                           .monitors = std::vector<Ref<Monitor>>{},
                           .max_epoch = 1};
  EXPECT_EQ(launch_train_with_config(config, SimpleTrainer()).reason, TrainEnd::finished);
  EXPECT_EQ(*seen, (std::vector<TowerSeen>{{"", true}, {"tower-pred-0", false}}));
}

// What others would ship as a packaged module: weights that were learned elsewhere, and how to use them.
struct Module {
  HostTensor frozen = HostTensor::of<float>({3});
  Tensor operator()(Tensor x) const {
    const VariableScope scope("module", Reuse::automatic);
    return reshape(x, {-1, 1}) * constant(frozen) * get_variable("gain", {.initializer = ones()});
  }
};

TEST(TowerClaims, a_module_made_outside_is_called_inside) {
  const Module module;
  SingleCostTrainer trainer{TwoTowers()};
  trainer.setup_graph(
      kLineSignature, BatchPerTower({4}),
      [module](Tensor x, Tensor y) {
        return reduce_mean(square(module(module(x)) - reshape(y, {-1, 1})));
      },
      descent);
  EXPECT_EQ(trainer.graph().collections().get(kTrainableVariables).size(), 1u);
}

Tensor deep_cost(Tensor image, Tensor label) {
  const ArgScope scope(Conv2D{.filters = 4, .kernel = 3, .activation = bn_relu});
  Tensor x = LinearWrap(image).conv2d("conv0").max_pooling("pool0", {.size = 2}).tensor();
  x = conv2d_transpose("deconv", x, {.filters = 4, .kernel = 2, .stride = 2});
  x = prelu("prelu", layer_norm("ln", x));
  x = group_norm("gn", x, {.groups = 2});
  x = LinearWrap(x).global_avg_pooling("gap").fully_connected("fc", {.units = 3}).dropout("drop").tensor();
  return reduce_mean(sparse_softmax_cross_entropy(x, label), {}, "cost");
}

TEST(TowerClaims, layers_keep_the_rules_in_every_tower) {
  const GraphScope g;
  TowerFunc f(deep_cost, {{{2, 8, 8, 1}, f32, "image"}, {{2}, i32, "label"}});
  const auto build = [&](const std::string& tower, bool is_training, TowerOptions options, Reuse reuse) {
    const VariableScope scope("", reuse);
    const NameScope names("around");
    const TowerContext context(tower, is_training, std::move(options));
    return f({placeholder({2, 8, 8, 1}, f32, "image_in"), placeholder({2}, i32, "label_in")});
  };
  build("tower0", true, {.total = 3}, Reuse::no);
  const size_t trainable = g.graph().collections().get(kTrainableVariables).size();
  build("tower1", true, {.index = 1, .total = 3}, Reuse::yes);
  build("InferenceTower", false, {}, Reuse::yes);
  EXPECT_EQ(g.graph().collections().get(kTrainableVariables).size(), trainable);
  build("tower2", true, {.variable_scope = "tower2", .index = 2, .total = 3}, Reuse::no);
  EXPECT_EQ(g.graph().collections().get(kTrainableVariables).size(), 2 * trainable);
}

TEST(TowerClaims, a_new_scope_has_the_reuse_one_wants_and_changes_no_other) {
  const GraphScope g;
  const TowerContext tower("", true);
  const VariableScope shared("shared");
  const auto w = get_variable("w");
  {
    const VariableScope again("", Reuse::yes);
    EXPECT_EQ(get_variable("w").handle(), w.handle());
  }
  EXPECT_CONTAINS(error_of([] { get_variable("w"); }), "'shared/w'");
}

TEST(TowerClaims, each_tower_takes_a_batch_of_its_own_and_nothing_is_split) {
  SingleCostTrainer two{TwoTowers()};
  two.setup_graph(kLineSignature, BatchPerTower({4}), line_cost, descent);
  const TowerHandles towers = two.towers();
  EXPECT_NE(towers[0]["x"], towers[1]["x"]);
  int64_t total = 0;
  for (const TowerHandle& t : towers) total += t["x"].dim(0);
  EXPECT_EQ(total, 8) << "the input's batch of 4 times 2 towers";
}

TEST(TowerClaims, towers_may_have_inputs_of_different_shapes) {
  SingleCostTrainer trainer{TwoTowers()};
  trainer.setup_graph(kLineSignature, BatchPerTower({2, 5}), line_cost, descent);
  EXPECT_EQ(trainer.train({.steps_per_epoch = 200, .max_epoch = 1}).reason, TrainEnd::finished);
  EXPECT_NEAR(trainer.sess().get("line/w").at(0), 2, 0.05);
}

TEST(TowerClaims, towers_change_neither_steps_nor_learning_rate) {
  SingleCostTrainer trainer{TwoTowers()};
  const TrainConfig config{.model = LineModel(),
                           .data = BatchPerTower({4}),
                           .extra_callbacks = CallbackList{},
                           .monitors = std::vector<Ref<Monitor>>{},
                           .max_epoch = 3};
  EXPECT_EQ(launch_train_with_config(config, trainer).reason, TrainEnd::finished);
  EXPECT_EQ(trainer.loop().global_step, 21) << "3 epochs of the 7 datapoints that the input says it has";
  SimpleTrainer one;
  TrainConfig alone = config;
  alone.data = LineInput();
  alone.steps_per_epoch = 7;
  EXPECT_EQ(launch_train_with_config(alone, one).reason, TrainEnd::finished);
  EXPECT_NEAR(trainer.sess().get("line/w").at(0), one.sess().get("line/w").at(0), 1e-5);
}

}  // namespace
}  // namespace martello
