#include <martello/base/internal/test_text.h>
#include <martello/callbacks/inference/data_parallel_inference_runner.h>
#include <martello/callbacks/inference/inferencers.h>
#include <martello/data/sources.h>
#include <martello/ops/identity.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;

// y = 1 for every third sample, and its number as x.
Datapoint sample(int64_t i) { return Datapoint(static_cast<float>(i), i % 3 == 0 ? 1.f : 0.f); }
DataFlowRef samples(int64_t n) {
  return data::from_index(n, [](int64_t i, Rng&) { return sample(i); });
}
// Of a size that nobody knows before.
DataFlowRef generated(int64_t n) {
  return data::from_generator([n](Pass) -> Generator<Datapoint> {
    for (int64_t i = 0; i < n; ++i) co_yield sample(i);
  });
}

using Passes = std::vector<std::vector<float>>;
struct Seen : Inferencer {
  explicit Seen(std::shared_ptr<Passes> p) : passes(std::move(p)) {}
  std::vector<std::string> fetches() const override { return {"x"}; }
  void before_inference() override { passes->emplace_back(); }
  void on_fetches(const HostTensors& v) override {
    EXPECT_EQ(num_samples(), v[0].num_elements());
    for (float x : v[0].data<float>()) passes->back().push_back(x);
  }
  Scalars after_inference() override { return {}; }
  std::shared_ptr<Passes> passes;
};

struct Line : SimpleTrainer {
  Line() {
    setup_graph(
        kLineSignature, LineInput(),
        [](Tensor x, Tensor y) {
          identity(y, "incorrect");
          return line_cost(x, y);
        },
        [] { return GradientDescent(0.01); });
  }
  TrainEnd run(CallbackList callbacks) {
    return train({.callbacks = std::move(callbacks), .steps_per_epoch = 3, .max_epoch = 2});
  }
};

TEST(DataParallelInference, sees_every_sample_once_and_in_order) {
  const std::vector<float> all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (const std::vector<int>& devices : {std::vector<int>{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7}}) {
    for (const bool is_known : {true, false}) {
      Line trainer;
      auto passes = make<Passes>();
      const DataFlowRef flow = (is_known ? samples(10) : generated(10)).batch(3, {.remainder = true});
      const TrainEnd end = trainer.run(
          {DataParallelInferenceRunner(flow, {ClassificationError(), ScalarStats({"cost"}), Seen(passes)}, devices)});
      ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
      EXPECT_EQ(*passes, (Passes{all, all})) << devices.size() << " devices";
      EXPECT_EQ(trainer.monitors().get_latest("validation_error"), 0.4);
    }
  }
}

TEST(DataParallelInference, gives_what_one_tower_gives) {
  Line one, three;
  const auto flow = samples(20).batch(4);
  ASSERT_TRUE(one.run({InferenceRunner(flow, {ScalarStats({"cost"})})}).is_success());
  ASSERT_TRUE(three.run({DataParallelInferenceRunner(flow, {ScalarStats({"cost"})}, {0, 1, 2})}).is_success());
  EXPECT_EQ(one.monitors().get_latest("validation_cost"), three.monitors().get_latest("validation_cost"));
  EXPECT_EQ(one.sess().get("line/w").at(0), three.sess().get("line/w").at(0));
}

TEST(DataParallelInference, wrong_data_fails_before_the_first_step) {
  Line trainer;
  int steps = 0;
  const auto wrong = data::from_index(4, [](int64_t, Rng&) { return Datapoint(1.f, int64_t{1}); }).batch(2);
  std::string text;
  try {
    const TrainEnd end = trainer.run({DataParallelInferenceRunner(wrong, {ClassificationError()}, {0, 1})});
    text = end.message;
  } catch (const Error& e) {
    text = e.what();
  }
  EXPECT_CONTAINS(text, "i64[2]");
  EXPECT_EQ(trainer.loop().global_step, steps);
}

TEST(DataParallelInference, refuses_names_that_are_taken_and_no_devices) {
  EXPECT_CONTAINS(error_of([] { DataParallelInferenceRunner(samples(3), {ClassificationError()}, {}); }),
                  "has no device");
  Line trainer;
  const auto flow = samples(4).batch(2);
  EXPECT_CONTAINS(
      error_of([&] {
        (void)trainer.run({DataParallelInferenceRunner(flow, {ClassificationError()}, {0}),
                           DataParallelInferenceRunner(flow, {ClassificationError("incorrect", "other")}, {0})});
      }),
      "there is a tower 'InferenceTower0' already");
}

}  // namespace
}  // namespace martello
