#pragma once
#include <martello/callbacks/inference/inferencer.h>

namespace martello {

struct ConfusionMatrixOptions {
  int64_t classes = 0;                        // 0: the last axis of scores, which is known then
  std::vector<std::string> class_names = {};  // none: their numbers
  std::string prefix = "validation";
};
// Counts which class is taken for which: label [N], prediction [N] of classes or [N, classes] of scores, of which the
// largest counts, the first of equals. Scalars `prefix`_accuracy, _macro_precision, _macro_recall and _macro_f1 (means
// over classes that occur), and `prefix`_confusion as an image, brighter for more of a label's samples, and as a table.
class ConfusionMatrix : public Inferencer {
 public:
  ConfusionMatrix(std::string prediction, std::string label, ConfusionMatrixOptions options = {});
  std::vector<std::string> fetches() const override { return {prediction_, label_}; }
  void check(const TensorList& tensors) const override;
  void before_inference() override;
  void on_fetches(const HostTensors& values) override;
  Scalars after_inference() override;
  void report(Monitors& monitors, const std::string& prefix) override;
  std::vector<std::string> provides() const override;

  // i64[classes, classes] of the last inference: rows are labels, columns predictions.
  const HostTensor& counts() const { return counts_; }

 private:
  HostTensor image() const;
  std::string table() const;
  std::string class_name(int64_t c) const;

  std::string prediction_, label_;
  ConfusionMatrixOptions options_;
  HostTensor counts_ = HostTensor({0, 0}, i64);
};

}  // namespace martello
