#pragma once
#include <martello/callbacks/inference/inferencer.h>

// Inferencers for everyday validation. All count every sample once, whatever the size of its batch.
namespace martello {

// Means of scalars over all samples, as `prefix`_<name>: a batch counts by its samples.
class ScalarStats : public Inferencer {
 public:
  explicit ScalarStats(std::vector<std::string> names, std::string prefix = "validation");
  std::vector<std::string> fetches() const override { return names_; }
  void check(const TensorList& tensors) const override;
  void before_inference() override;
  void on_fetches(const HostTensors& values) override;
  Scalars after_inference() override;
  std::vector<std::string> provides() const override;

 private:
  std::vector<std::string> names_;
  std::string prefix_;
  std::vector<double> sums_;
  int64_t count_ = 0;
};

// The fraction of samples that are wrong, of a vector with 1 for a wrong one and 0 for a right one
// (prediction_incorrect).
class ClassificationError : public Inferencer {
 public:
  explicit ClassificationError(std::string tensor = "incorrect", std::string summary = "validation_error");
  std::vector<std::string> fetches() const override { return {tensor_}; }
  void check(const TensorList& tensors) const override;
  void before_inference() override;
  void on_fetches(const HostTensors& values) override;
  Scalars after_inference() override;
  std::vector<std::string> provides() const override { return {summary_}; }

 private:
  std::string tensor_, summary_;
  double wrong_ = 0;
  int64_t count_ = 0;
};

// `prefix`_precision and `prefix`_recall of predictions and labels that are 0 or 1; 0 where there is nothing to divide
// by.
class BinaryClassificationStats : public Inferencer {
 public:
  BinaryClassificationStats(std::string prediction, std::string label, std::string prefix = "val");
  std::vector<std::string> fetches() const override { return {prediction_, label_}; }
  void before_inference() override;
  void on_fetches(const HostTensors& values) override;
  Scalars after_inference() override;
  std::vector<std::string> provides() const override;

 private:
  std::string prediction_, label_, prefix_;
  int64_t true_positives_ = 0, predicted_ = 0, positives_ = 0;
};

struct TopKOptions {
  int64_t k = 5;
  std::string summary = {};  // default: validation_top5_error for k = 5
};
// The fraction of samples whose label is not among the k largest scores; scores [..., classes], label [...]. One that
// ties with the k-th is among them.
class TopKError : public Inferencer {
 public:
  TopKError(std::string scores, std::string label, TopKOptions options = {});
  std::vector<std::string> fetches() const override { return {scores_, label_}; }
  void check(const TensorList& tensors) const override;
  void before_inference() override;
  void on_fetches(const HostTensors& values) override;
  Scalars after_inference() override;
  std::vector<std::string> provides() const override { return {options_.summary}; }

 private:
  std::string scores_, label_;
  TopKOptions options_;
  int64_t wrong_ = 0, count_ = 0;
};

// The area under the ROC curve, exactly: how often a sample of label 1 has a higher score than one of label 0, ties
// counted half. Keeps all scores until the end. Nothing, with a warning, when one of the labels does not occur.
class AUC : public Inferencer {
 public:
  AUC(std::string scores, std::string label, std::string summary = "validation_auc");
  std::vector<std::string> fetches() const override { return {scores_, label_}; }
  void before_inference() override { samples_.clear(); }
  void on_fetches(const HostTensors& values) override;
  Scalars after_inference() override;
  std::vector<std::string> provides() const override { return {summary_}; }

 private:
  std::string scores_, label_, summary_;
  std::vector<std::pair<double, bool>> samples_;
};

struct PerplexityOptions {
  std::string weights = {};  // of the losses, e.g. 0 for padding; none: all count alike
  std::string summary = "validation_perplexity";
};
// exp of the mean loss, of a tensor of losses in nats, one for each token, or of a scalar mean, which counts by its
// samples.
class Perplexity : public Inferencer {
 public:
  explicit Perplexity(std::string loss, PerplexityOptions options = {});
  std::vector<std::string> fetches() const override;
  void check(const TensorList& tensors) const override;
  void before_inference() override { sum_ = count_ = 0; }
  void on_fetches(const HostTensors& values) override;
  Scalars after_inference() override;
  std::vector<std::string> provides() const override { return {options_.summary}; }

 private:
  std::string loss_;
  PerplexityOptions options_;
  double sum_ = 0, count_ = 0;
};

}  // namespace martello
