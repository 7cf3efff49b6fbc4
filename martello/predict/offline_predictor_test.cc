#include <martello/base/internal/test_text.h>
#include <martello/predict/internal/predict_test.h>
#include <martello/predict/offline_predictor.h>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace martello {
namespace {

using testing::error_of;
using testing::Line;
using testing::line_config;
using testing::Log;

TEST(OfflinePredictor, runs_a_model_with_the_values_it_was_given) {
  const OfflinePredictor predict(line_config());
  const HostTensors first = predict({HostTensor::of<float>({1, 2})}), second = predict({HostTensor::of<float>({5})});
  EXPECT_EQ(first[0].at(1), 7);
  EXPECT_EQ(second[0].at(0), 16);
}

TEST(OfflinePredictor, takes_all_inputs_of_the_signature_unless_told_otherwise) {
  PredictConfig config = line_config();
  config.input_names = {};
  config.output_names = {"distance"};
  const OfflinePredictor predict(std::move(config));
  EXPECT_EQ(predict({HostTensor::of<float>({1}), HostTensor::of<float>({10})})[0].at(0), -6);
  EXPECT_CONTAINS(error_of([&] { predict({HostTensor({1}, f32)}); }), "got 1 values for 2 inputs: x, label");
}

TEST(OfflinePredictor, any_tensor_can_be_an_input) {
  PredictConfig config = line_config();
  config.input_names = {"y", "label"};
  config.output_names = {"distance"};
  const OfflinePredictor predict(std::move(config));
  EXPECT_EQ(predict({HostTensor::of<float>({4}), HostTensor::of<float>({1})})[0].at(0), 3);
}

TEST(OfflinePredictor, is_in_inference_mode) {
  PredictConfig config = testing::resnet_config();
  config.output_names = {"prob", "bn0/mean/EMA"};
  const OfflinePredictor predict(std::move(config));
  const HostTensor images = testing::random_values({4, 8, 8, 3}, 7);
  const HostTensors all = predict({images}),
                    one = predict({HostTensor::from(images.data<float>().first(192), {1, 8, 8, 3})});
  for (int64_t i = 0; i < 10; ++i) EXPECT_NEAR(all[0].at(i), one[0].at(i), 1e-5) << "a sample does not see the others";
  EXPECT_TRUE(predict({images})[1].same_bits(all[1])) << "moments stay as they are";
}

TEST(OfflinePredictor, says_that_nothing_gave_it_values) {
  Log log;
  PredictConfig config = line_config();
  config.session_init = nullptr;
  const OfflinePredictor predict(std::move(config));
  EXPECT_EQ(predict({HostTensor::of<float>({1})})[0].at(0), 0);
  bool is_said = false;
  for (const std::string& line : log.lines) is_said |= line.find("2 trainable variables") != std::string::npos;
  EXPECT_TRUE(is_said);
}

TEST(OfflinePredictor, refuses_a_config_that_says_too_little_or_too_much) {
  EXPECT_CONTAINS(error_of([] { OfflinePredictor({.output_names = {"y"}}); }), "has no model");
  EXPECT_CONTAINS(error_of([] { OfflinePredictor({.model = Line()}); }), "names no output");
  const auto twice = [](Tensor x) { return x * 2; };
  EXPECT_CONTAINS(error_of([&] { OfflinePredictor({.model = Line(), .tower_func = twice, .output_names = {"y"}}); }),
                  "both a model and a tower_func");
  EXPECT_CONTAINS(error_of([&] {
                    OfflinePredictor({.model = Line(), .input_signature = {{{}, f32, "x"}}, .output_names = {"y"}});
                  }),
                  ".input_signature too");
  EXPECT_CONTAINS(error_of([&] { OfflinePredictor({.tower_func = twice, .output_names = {"y"}}); }), "0 inputs");
  EXPECT_CONTAINS(error_of([] {
                    OfflinePredictor({.model = Line(), .input_names = {"x", "x"}, .output_names = {"y"}});
                  }),
                  ".input_names has 'x' twice");
  const std::string text = error_of<NotFound>([] { OfflinePredictor({.model = Line(), .output_names = {"line/v"}}); });
  EXPECT_CONTAINS(text, "'line/v'");
  EXPECT_CONTAINS(text, "offline_predictor_test.cc");
}

TEST(OfflinePredictor, many_threads_share_one) {
  const OfflinePredictor predict(line_config());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i)
        if (predict({HostTensor::full({t + 1}, f32, i)})[0].at(t) != 3 * i + 1) ++wrong;
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(MultiTowerOfflinePredictor, has_a_predictor_for_each_device) {
  const MultiTowerOfflinePredictor predict(line_config(), {0, 1});
  EXPECT_EQ(predict({HostTensor::of<float>({2})})[0].at(0), 7);
  for (const OnlinePredictor& p : predict.get_predictors()) EXPECT_EQ(p({HostTensor::of<float>({2})})[0].at(0), 7);
  const auto three = predict.get_predictors(3);
  EXPECT_EQ(three[2].outputs()[0].name(), "tower0/y");
  EXPECT_EQ(predict.get_predictor(1).outputs()[0].name(), "tower1/y");
  EXPECT_CONTAINS(error_of([&] { predict.get_predictor(2); }), "no tower 2 among 2");
  EXPECT_EQ(predict.get_predictor(0).session()->graph().collections().get(kTrainableVariables).size(), 2u);
}

TEST(DataParallelOfflinePredictor, takes_the_inputs_of_all_towers) {
  const DataParallelOfflinePredictor predict(line_config(), {0, 1, 2});
  const HostTensors y =
      predict({HostTensor::of<float>({1}), HostTensor::of<float>({2, 3}), HostTensor::of<float>({4})});
  ASSERT_EQ(y.size(), 3u);
  EXPECT_EQ(y[0].at(0), 4);
  EXPECT_EQ(y[1].at(1), 10);
  EXPECT_EQ(y[2].at(0), 13);
  EXPECT_CONTAINS(error_of([&] { predict({HostTensor({1}, f32)}); }), "tower0/x, tower1/x, tower2/x");
}

TEST(DataParallelOfflinePredictor, needs_a_device) {
  EXPECT_CONTAINS(error_of([] { DataParallelOfflinePredictor(line_config(), {}); }), "no tower");
  EXPECT_CONTAINS(error_of([] { MultiTowerOfflinePredictor(line_config(), {0, -1}); }), "device -1");
}

}  // namespace
}  // namespace martello
