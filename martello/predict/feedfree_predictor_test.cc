#include <martello/base/internal/test_text.h>
#include <martello/data/sources.h>
#include <martello/graph/core_ops.h>
#include <martello/input/feed_input.h>
#include <martello/input/queue_input.h>
#include <martello/input/tensor_input.h>
#include <martello/predict/feedfree_predictor.h>
#include <martello/predict/internal/predict_test.h>

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>

namespace martello {
namespace {

using testing::error_of;
using testing::line_config;

DataFlowRef numbers(int64_t count) {
  return data::from_index(count, [](int64_t i, Rng&) { return Datapoint(static_cast<float>(i), 0.f); }).batch(1);
}

TEST(FeedfreePredictor, takes_the_next_datapoint_with_every_call) {
  for (const bool is_queue : {false, true}) {
    Ref<InputSource> input;
    if (is_queue) input = QueueInput(numbers(3), {.infinite = false});
    else input = FeedInput(numbers(3), {.infinite = false});
    FeedfreePredictor predict(line_config(), input);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(predict()[0].at(0), 3 * i + 1);
    EXPECT_THROW(predict(), EndOfData);
    predict.reset();
    EXPECT_EQ(predict()[0].at(0), 1);
  }
}

TEST(FeedfreePredictor, inputs_may_be_computed) {
  FeedfreePredictor predict(line_config(), TensorInput([] {
                              return TensorList{constant(HostTensor::of<float>({2}), "two"),
                                                constant(HostTensor::of<float>({0}), "label_value")};
                            }));
  EXPECT_EQ(predict()[0].at(0), 7);
}

TEST(FeedfreePredictor, threads_share_the_data) {
  FeedfreePredictor predict(line_config(), QueueInput(numbers(200), {.infinite = false}));
  std::mutex mutex;
  std::multiset<double> seen;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const double y = predict()[0].at(0);
        const std::lock_guard lock(mutex);
        seen.insert(y);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(std::set<double>(seen.begin(), seen.end()).size(), 200u) << "each datapoint once";
}

TEST(FeedfreePredictor, data_that_does_not_fit_is_refused_at_once) {
  const DataFlowRef wrong = data::from_index(3, [](int64_t, Rng&) { return Datapoint(int64_t{1}, 0.f); }).batch(1);
  EXPECT_CONTAINS(error_of([&] { FeedfreePredictor(line_config(), QueueInput(wrong)); }), "i64[1]");
  EXPECT_CONTAINS(error_of([&] { FeedfreePredictor(line_config(), nullptr); }), "input is null");
}

}  // namespace
}  // namespace martello
