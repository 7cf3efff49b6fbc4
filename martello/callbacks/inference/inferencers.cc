#include <martello/callbacks/inference/inferencers.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/callbacks/inference/internal/values.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace martello {
namespace {

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

std::string shown(const Tensor& t) { return str("'", t.name(), "' is ", t.dtype(), t.shape()); }

}  // namespace

ScalarStats::ScalarStats(std::vector<std::string> names, std::string prefix)
    : names_(std::move(names)), prefix_(std::move(prefix)), sums_(names_.size()) {
  MARTELLO_CHECK(!names_.empty(), "[ScalarStats] was given no names.");
}

void ScalarStats::check(const TensorList& tensors) const {
  for (const Tensor& t : tensors)
    MARTELLO_CHECK(t.rank() == 0, "[ScalarStats] ", shown(t), ", not a scalar. Use reduce_mean().");
}

void ScalarStats::before_inference() {
  sums_.assign(names_.size(), 0);
  count_ = 0;
}

void ScalarStats::on_fetches(const HostTensors& values) {
  for (size_t i = 0; i < values.size(); ++i) sums_[i] += values[i].at(0) * static_cast<double>(num_samples());
  count_ += num_samples();
}

Scalars ScalarStats::after_inference() {
  Scalars scalars;
  const std::vector<std::string> names = provides();
  for (size_t i = 0; i < names.size() && count_ > 0; ++i)
    scalars.emplace_back(names[i], sums_[i] / static_cast<double>(count_));
  return scalars;
}

std::vector<std::string> ScalarStats::provides() const {
  std::vector<std::string> names = names_;
  for (std::string& n : names) {
    if (n.ends_with(":0")) n.resize(n.size() - 2);
    if (!prefix_.empty()) n = str(prefix_, "_", n);
  }
  return names;
}

ClassificationError::ClassificationError(std::string tensor, std::string summary)
    : tensor_(std::move(tensor)), summary_(std::move(summary)) {}

void ClassificationError::check(const TensorList& tensors) const {
  MARTELLO_CHECK(tensors[0].rank() == 1, "[ClassificationError] ", shown(tensors[0]),
                 ", not a vector with a number for each sample. A mean over a batch cannot be averaged exactly.");
}

void ClassificationError::before_inference() { wrong_ = 0, count_ = 0; }

void ClassificationError::on_fetches(const HostTensors& values) {
  for (int64_t i = 0; i < values[0].num_elements(); ++i) wrong_ += values[0].at(i);
  count_ += values[0].num_elements();
}

Scalars ClassificationError::after_inference() { return {{summary_, ratio(wrong_, static_cast<double>(count_))}}; }

BinaryClassificationStats::BinaryClassificationStats(std::string prediction, std::string label, std::string prefix)
    : prediction_(std::move(prediction)), label_(std::move(label)), prefix_(std::move(prefix)) {}

void BinaryClassificationStats::before_inference() { true_positives_ = predicted_ = positives_ = 0; }

void BinaryClassificationStats::on_fetches(const HostTensors& values) {
  internal::check_same_count(values[0], prediction_, values[1], label_);
  for (int64_t i = 0; i < values[0].num_elements(); ++i) {
    const bool predicted = internal::binary_at(values[0], i, prediction_);
    const bool is_positive = internal::binary_at(values[1], i, label_);
    predicted_ += predicted;
    positives_ += is_positive;
    true_positives_ += predicted && is_positive;
  }
}

Scalars BinaryClassificationStats::after_inference() {
  const auto hits = static_cast<double>(true_positives_);
  const std::vector<std::string> names = provides();
  return {{names[0], ratio(hits, static_cast<double>(predicted_))},
          {names[1], ratio(hits, static_cast<double>(positives_))}};
}

std::vector<std::string> BinaryClassificationStats::provides() const {
  return {prefix_ + "_precision", prefix_ + "_recall"};
}

TopKError::TopKError(std::string scores, std::string label, TopKOptions options)
    : scores_(std::move(scores)), label_(std::move(label)), options_(std::move(options)) {
  MARTELLO_CHECK(options_.k > 0, "[TopKError] k is ", options_.k, " but must be at least 1.");
  if (options_.summary.empty()) options_.summary = str("validation_top", options_.k, "_error");
}

void TopKError::check(const TensorList& tensors) const {
  MARTELLO_CHECK(tensors[0].rank() == tensors[1].rank() + 1, "[TopKError] ", shown(tensors[0]), " and ",
                 shown(tensors[1]), ". Scores have one axis more than labels: that of the classes.");
  const int64_t classes = tensors[0].shape()[-1];
  MARTELLO_CHECK(classes < 0 || options_.k <= classes, "[TopKError] k is ", options_.k, " but ", shown(tensors[0]),
                 ", scores of ", classes, " classes.");
}

void TopKError::before_inference() { wrong_ = count_ = 0; }

void TopKError::on_fetches(const HostTensors& values) {
  const HostTensor& scores = values[0];
  const int64_t classes = scores.shape()[-1], samples = values[1].num_elements();
  MARTELLO_CHECK(scores.num_elements() == samples * classes, "[TopKError] '", scores_, "' is ", scores.shape(),
                 " but '", label_, "' is ", values[1].shape(), ".");
  for (int64_t i = 0; i < samples; ++i) {
    const double score = scores.at(i * classes + internal::class_at(values[1], i, classes, label_));
    int64_t better = 0;
    for (int64_t c = 0; c < classes; ++c) better += scores.at(i * classes + c) > score;
    wrong_ += !std::isfinite(score) || better >= options_.k;
  }
  count_ += samples;
}

Scalars TopKError::after_inference() {
  return {{options_.summary, ratio(static_cast<double>(wrong_), static_cast<double>(count_))}};
}

AUC::AUC(std::string scores, std::string label, std::string summary)
    : scores_(std::move(scores)), label_(std::move(label)), summary_(std::move(summary)) {}

void AUC::on_fetches(const HostTensors& values) {
  internal::check_same_count(values[0], scores_, values[1], label_);
  for (int64_t i = 0; i < values[0].num_elements(); ++i)
    samples_.emplace_back(values[0].at(i), internal::binary_at(values[1], i, label_));
}

// The sum over positives of (negatives below + half of those that tie), over all pairs.
Scalars AUC::after_inference() {
  const auto is_nan = [](const auto& s) { return std::isnan(s.first); };
  if (std::any_of(samples_.begin(), samples_.end(), is_nan))
    return {{summary_, std::numeric_limits<double>::quiet_NaN()}};
  std::sort(samples_.begin(), samples_.end());
  double below = 0, pairs_won = 0, positives = 0;
  for (size_t first = 0, end = 0; first < samples_.size(); first = end) {
    double tied[2] = {0, 0};
    for (; end < samples_.size() && samples_[end].first == samples_[first].first; ++end) ++tied[samples_[end].second];
    pairs_won += tied[1] * (below + tied[0] / 2);
    positives += tied[1];
    below += tied[0];
  }
  if (positives == 0 || below == 0) {
    logger::warn("[AUC] of ", samples_.size(), " samples ", positives, " have label 1: there is no '", summary_, "'.");
    return {};
  }
  return {{summary_, pairs_won / (positives * below)}};
}

Perplexity::Perplexity(std::string loss, PerplexityOptions options)
    : loss_(std::move(loss)), options_(std::move(options)) {}

std::vector<std::string> Perplexity::fetches() const {
  if (options_.weights.empty()) return {loss_};
  return {loss_, options_.weights};
}

void Perplexity::check(const TensorList& tensors) const {
  MARTELLO_CHECK(tensors.size() == 1 || tensors[0].rank() > 0, "[Perplexity] ", shown(tensors[0]),
                 ", so weights cannot apply. Take the losses before their mean.");
}

void Perplexity::on_fetches(const HostTensors& values) {
  const HostTensor& loss = values[0];
  if (values.size() > 1) internal::check_same_count(loss, loss_, values[1], options_.weights);
  const double alone = loss.shape().rank() == 0 ? static_cast<double>(num_samples()) : 1;
  for (int64_t i = 0; i < loss.num_elements(); ++i) {
    const double weight = values.size() > 1 ? values[1].at(i) : alone;
    if (weight != 0) sum_ += weight * loss.at(i);
    count_ += weight;
  }
}

Scalars Perplexity::after_inference() {
  if (count_ == 0) return {};
  return {{options_.summary, std::exp(sum_ / count_)}};
}

}  // namespace martello
