#include <martello/base/internal/test_text.h>
#include <martello/callbacks/inference/confusion_matrix.h>
#include <martello/callbacks/inference/inferencers.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/loop/monitors.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace martello {
namespace {

using testing::error_of;
using testing::Log;

HostTensor floats(const std::vector<float>& v) {
  return HostTensor::from<float>(v, Shape(static_cast<int64_t>(v.size())));
}
HostTensor labels(const std::vector<int32_t>& v) {
  return HostTensor::from<int32_t>(v, Shape(static_cast<int64_t>(v.size())));
}

// What an inferencer makes of these datapoints.
std::map<std::string, double> results(Inferencer& inferencer, const std::vector<HostTensors>& datapoints) {
  inferencer.before_inference();
  for (const HostTensors& d : datapoints) inferencer.on_fetches(d);
  std::map<std::string, double> map;
  for (const auto& [name, value] : inferencer.after_inference()) map[name] = value;
  return map;
}

using Results = std::map<std::string, double>;

TEST(ClassificationError, is_exact_for_unequal_batches) {
  ClassificationError error("wrong");
  EXPECT_EQ(error.fetches(), std::vector<std::string>{"wrong"});
  EXPECT_EQ(results(error, {{floats({1, 0, 0, 0})}, {floats({1})}}), (Results{{"validation_error", 0.4}}));
  EXPECT_EQ(results(error, {{floats({0})}}), (Results{{"validation_error", 0}})) << "begins anew";
  ClassificationError booleans("wrong", "e");
  EXPECT_EQ(results(booleans, {{HostTensor::of<bool>({true, false})}}), (Results{{"e", 0.5}}));
}

TEST(BinaryClassificationStats, gives_precision_and_recall) {
  BinaryClassificationStats stats("p", "l");
  // true positives 2, predicted 3, positives 4
  EXPECT_EQ(results(stats, {{labels({1, 1, 1, 0}), labels({1, 1, 0, 1})}, {labels({0}), labels({1})}}),
            (Results{{"val_precision", 2.0 / 3}, {"val_recall", 0.5}}));
  EXPECT_EQ(results(stats, {{labels({0}), labels({0})}}), (Results{{"val_precision", 0}, {"val_recall", 0}}));
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { stats.on_fetches({floats({0.5f}), labels({1})}); }), "'p' has a 0.5");
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] {
                    stats.on_fetches({labels({0, 1}), labels({1})});
                  }),
                  "'p' is i32[2] but 'l' is i32[1]");
}

TEST(TopKError, equals_a_sort_of_every_row) {
  constexpr int64_t kSamples = 200, kClasses = 7;
  std::mt19937 random(5);
  HostTensor scores({kSamples, kClasses}, f32);
  std::vector<int32_t> label;
  for (auto& s : scores.mutable_data<float>()) s = static_cast<float>(random() % 10);  // with ties
  for (int64_t i = 0; i < kSamples; ++i) label.push_back(static_cast<int32_t>(random() % kClasses));
  for (int64_t k = 1; k <= kClasses; ++k) {
    int wrong = 0;
    for (int64_t i = 0; i < kSamples; ++i) {
      const auto row = scores.data<float>().subspan(static_cast<size_t>(i * kClasses), kClasses);
      std::vector<float> sorted(row.begin(), row.end());
      std::sort(sorted.rbegin(), sorted.rend());
      wrong += row[static_cast<size_t>(label[static_cast<size_t>(i)])] < sorted[static_cast<size_t>(k - 1)];
    }
    TopKError error("scores", "label", {.k = k});
    EXPECT_EQ(results(error, {{scores, labels(label)}}),
              (Results{{str("validation_top", k, "_error"), wrong / double(kSamples)}}));
  }
}

TEST(TopKError, refuses_what_it_cannot_use) {
  EXPECT_CONTAINS(error_of<InvalidArgument>([] { TopKError("s", "l", {.k = 0}); }), "k is 0");
  const GraphScope graph;
  const Tensor scores = placeholder({kUnknown, 3}, f32, "s"), label = placeholder({kUnknown}, i32, "l");
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { TopKError("s", "l").check({scores, label}); }), "k is 5");
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] {
                    TopKError("s", "s", {.k = 1}).check({scores, scores});
                  }),
                  "one axis more");
  TopKError error("s", "l", {.k = 1});
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] {
                    error.on_fetches({HostTensor({1, 3}, f32), labels({3})});
                  }),
                  "'l' has a class 3 outside of [0, 3)");
}

TEST(AUC, equals_the_count_of_all_pairs) {
  std::mt19937 random(3);
  std::vector<float> scores;
  std::vector<int32_t> label;
  for (int i = 0; i < 300; ++i) {
    label.push_back(random() % 3 == 0);
    scores.push_back(static_cast<float>(random() % 40) + 8 * static_cast<float>(label.back()));
  }
  double won = 0, pairs = 0;
  for (size_t p = 0; p < label.size(); ++p)
    for (size_t n = 0; n < label.size(); ++n)
      if (label[p] == 1 && label[n] == 0) {
        ++pairs;
        won += scores[p] > scores[n] ? 1 : scores[p] == scores[n] ? 0.5 : 0;
      }
  AUC auc("s", "l");
  const auto found = results(auc, {{floats(scores), labels(label)}});
  EXPECT_NEAR(found.at("validation_auc"), won / pairs, 1e-12);
  EXPECT_EQ(results(auc, {{floats({1, 2}), labels({0, 1})}, {floats({3, 0}), labels({1, 0})}}),
            (Results{{"validation_auc", 1}}));
}

TEST(AUC, of_one_class_is_nothing_and_of_nan_is_nan) {
  Log log;
  AUC auc("s", "l");
  EXPECT_TRUE(results(auc, {{floats({1, 2}), labels({1, 1})}}).empty());
  EXPECT_CONTAINS(log.lines.back(), "there is no 'validation_auc'");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(results(auc, {{floats({1, nan}), labels({1, 0})}}).at("validation_auc")));
}

TEST(Perplexity, weighs_every_token_once) {
  Perplexity all("loss");
  const double mean = (0.5 + 1 + 2 + 3 + 7) / 5;
  EXPECT_NEAR(results(all, {{floats({0.5f, 1, 2, 3})}, {floats({7})}}).at("validation_perplexity"), std::exp(mean),
              1e-9);
  Perplexity masked("loss", {.weights = "mask", .summary = "ppl"});
  EXPECT_EQ(masked.fetches(), (std::vector<std::string>{"loss", "mask"}));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_NEAR(results(masked, {{floats({1, infinity, 2}), floats({1, 0, 3})}}).at("ppl"), std::exp(7.0 / 4), 1e-9);
  EXPECT_TRUE(results(masked, {{floats({1}), floats({0})}}).empty());
}

TEST(ConfusionMatrix, counts_labels_by_predictions) {
  ConfusionMatrix matrix("p", "l", {.classes = 3});
  // label 0: twice right, once taken for 2; label 2: once right; class 1 is only predicted
  const auto found = results(matrix, {{labels({0, 0, 2}), labels({0, 0, 0})}, {labels({2, 1}), labels({2, 2})}});
  EXPECT_TRUE(matrix.counts().same_bits(HostTensor::of<int64_t>({2, 0, 1, 0, 0, 0, 0, 1, 1}, {3, 3})));
  EXPECT_EQ(found.at("validation_accuracy"), 0.6);
  EXPECT_NEAR(found.at("validation_macro_precision"), (1 + 0 + 0.5) / 3, 1e-12);
  EXPECT_NEAR(found.at("validation_macro_recall"), (2.0 / 3 + 0 + 0.5) / 3, 1e-12);
  EXPECT_NEAR(found.at("validation_macro_f1"), (4.0 / 5 + 0 + 2.0 / 4) / 3, 1e-12);
}

TEST(ConfusionMatrix, takes_the_largest_score_and_finds_the_classes) {
  ConfusionMatrix matrix("p", "l");
  const HostTensor scores = HostTensor::of<float>({0.1f, 0.9f, 0, 5, 5, -1}, {2, 3});
  results(matrix, {{scores, labels({1, 2})}});
  EXPECT_TRUE(matrix.counts().same_bits(HostTensor::of<int64_t>({0, 0, 0, 0, 1, 0, 1, 0, 0}, {3, 3})));
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] {
                    matrix.on_fetches({scores, labels({0, -1})});
                  }),
                  "'l' has a class -1 outside of [0, 3)");
}

TEST(ConfusionMatrix, refuses_shapes_that_do_not_tell_the_classes) {
  const GraphScope graph;
  const Tensor one = placeholder({kUnknown}, i32, "one"), two = placeholder({kUnknown, 4}, f32, "two");
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { ConfusionMatrix("one", "one").check({one, one}); }), "Set .classes");
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] {
                    ConfusionMatrix("two", "one", {.classes = 3}).check({two, one});
                  }),
                  "scores of 4 classes but .classes is 3");
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { ConfusionMatrix("two", "two").check({two, two}); }), "not [N]");
  EXPECT_CONTAINS(error_of<InvalidArgument>([] { ConfusionMatrix("p", "l", {.classes = 3, .class_names = {"cat"}}); }),
                  "1 class names for 3 classes");
}

TEST(ScalarStats, are_named_by_prefix) {
  EXPECT_EQ(ScalarStats({"cost", "fc/loss:0"}).provides(),
            (std::vector<std::string>{"validation_cost", "validation_fc/loss"}));
  EXPECT_EQ(ScalarStats({"cost"}, "").provides(), std::vector<std::string>{"cost"});
  EXPECT_CONTAINS(error_of<InvalidArgument>([] { ScalarStats({}); }), "no names");
  EXPECT_EQ(ScalarStats({"cost"}).name(), "ScalarStats");
}

}  // namespace
}  // namespace martello
