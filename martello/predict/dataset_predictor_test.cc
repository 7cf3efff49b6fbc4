#include <martello/base/internal/test_text.h>
#include <martello/data/sources.h>
#include <martello/predict/dataset_predictor.h>
#include <martello/predict/internal/predict_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;
using testing::line_config;

DataFlowRef numbers(int64_t count) {
  return data::from_index(count, [](int64_t i, Rng&) { return Datapoint(static_cast<float>(i)); });
}

TEST(SimpleDatasetPredictor, goes_through_the_data_in_order_and_from_the_beginning) {
  const SimpleDatasetPredictor predict(line_config(), numbers(5).batch(2, {.remainder = true}));
  for (int round = 0; round < 2; ++round) {
    const std::vector<HostTensors> all = predict.get_all_result();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[1][0].at(1), 10);
    EXPECT_EQ(all[2][0].shape(), Shape(1));
  }
  std::vector<double> seen;
  predict.for_each([&](const Datapoint& d, HostTensors y) { seen.push_back(y[0].at(0) - 3 * d[0].at(0)); });
  EXPECT_EQ(seen, (std::vector<double>{1, 1, 1}));
}

TEST(SimpleDatasetPredictor, finds_inputs_by_key) {
  const DataFlowRef flow = data::from_index(2, [](int64_t i, Rng&) {
    Datapoint d;
    d.set("weight", HostTensor::of<float>({-1})).set("x", HostTensor::full({1}, f32, static_cast<double>(i)));
    return d;
  });
  EXPECT_EQ(SimpleDatasetPredictor(line_config(), flow).get_all_result()[1][0].at(0), 4);
}

TEST(SimpleDatasetPredictor, says_which_datapoint_does_not_fit) {
  const DataFlowRef flow = data::from_index(
      3, [](int64_t i, Rng&) { return Datapoint(i < 2 ? HostTensor({1}, f32) : HostTensor({1}, i32)); });
  const std::string text = error_of([&] { SimpleDatasetPredictor(line_config(), flow).get_all_result(); });
  EXPECT_CONTAINS(text, "in datapoint 2");
  EXPECT_CONTAINS(text, "i32[1]");
  EXPECT_CONTAINS(error_of([] { SimpleDatasetPredictor(line_config(), nullptr); }), "data flow is null");
}

}  // namespace
}  // namespace martello
