#include <martello/callbacks/inference/confusion_matrix.h>

#include <martello/base/error.h>
#include <martello/callbacks/inference/internal/values.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace martello {
namespace {

constexpr const char* kScalars[] = {"_accuracy", "_macro_precision", "_macro_recall", "_macro_f1"};
constexpr int64_t kImageSide = 256;  // pixels, about
constexpr int64_t kMostInTable = 32;

// How often classes were predicted, are labels, and are both.
struct Totals {
  std::vector<double> predicted, labelled, right;
};

Totals totals_of(const HostTensor& counts) {
  const auto classes = static_cast<size_t>(counts.shape()[0]);
  Totals t{std::vector<double>(classes), std::vector<double>(classes), std::vector<double>(classes)};
  const auto n = counts.data<int64_t>();
  for (size_t row = 0; row < classes; ++row)
    for (size_t column = 0; column < classes; ++column) {
      const auto count = static_cast<double>(n[row * classes + column]);
      t.labelled[row] += count;
      t.predicted[column] += count;
      if (row == column) t.right[row] = count;
    }
  return t;
}

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

int64_t largest(const HostTensor& scores, int64_t row, int64_t classes) {
  int64_t best = 0;
  for (int64_t c = 1; c < classes; ++c)
    if (scores.at(row * classes + c) > scores.at(row * classes + best)) best = c;
  return best;
}

}  // namespace

ConfusionMatrix::ConfusionMatrix(std::string prediction, std::string label, ConfusionMatrixOptions options)
    : prediction_(std::move(prediction)), label_(std::move(label)), options_(std::move(options)) {
  const auto names = static_cast<int64_t>(options_.class_names.size());
  if (options_.classes == 0) options_.classes = names;
  MARTELLO_CHECK(options_.classes >= 0, "[ConfusionMatrix] .classes is ", options_.classes, ".");
  MARTELLO_CHECK(names == 0 || names == options_.classes, "[ConfusionMatrix] has ", names, " class names for ",
                 options_.classes, " classes.");
}

void ConfusionMatrix::check(const TensorList& tensors) const {
  const Tensor prediction = tensors[0], label = tensors[1];
  MARTELLO_CHECK(label.rank() == 1 && (prediction.rank() == 1 || prediction.rank() == 2), "[ConfusionMatrix] '",
                 prediction.name(), "' is ", prediction.shape(), " and '", label.name(), "' is ", label.shape(),
                 ", not [N] or [N, classes] and [N].");
  const int64_t classes = prediction.rank() == 2 ? prediction.shape()[1] : kUnknown;
  MARTELLO_CHECK(options_.classes > 0 || classes > 0, "[ConfusionMatrix] '", prediction.name(), "' is ",
                 prediction.shape(), ", which does not tell the number of classes. Set .classes.");
  MARTELLO_CHECK(classes < 0 || options_.classes == 0 || classes == options_.classes, "[ConfusionMatrix] '",
                 prediction.name(), "' has scores of ", classes, " classes but .classes is ", options_.classes, ".");
}

void ConfusionMatrix::before_inference() { counts_ = HostTensor({options_.classes, options_.classes}, i64); }

void ConfusionMatrix::on_fetches(const HostTensors& values) {
  const HostTensor &prediction = values[0], &label = values[1];
  const bool has_scores = prediction.shape().rank() == 2;
  if (counts_.num_elements() == 0) counts_ = HostTensor({prediction.shape()[1], prediction.shape()[1]}, i64);
  const int64_t classes = counts_.shape()[0], samples = label.num_elements();
  MARTELLO_CHECK(prediction.num_elements() == (has_scores ? samples * classes : samples), "[ConfusionMatrix] '",
                 prediction_, "' is ", prediction.shape(), " but '", label_, "' is ", label.shape(), ", for ", classes,
                 " classes.");
  const auto counts = counts_.mutable_data<int64_t>();
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t row = internal::class_at(label, i, classes, label_);
    const int64_t column =
        has_scores ? largest(prediction, i, classes) : internal::class_at(prediction, i, classes, prediction_);
    ++counts[static_cast<size_t>(row * classes + column)];
  }
}

Scalars ConfusionMatrix::after_inference() {
  const Totals t = totals_of(counts_);
  double right = 0, all = 0, occurring = 0, precision = 0, recall = 0, f1 = 0;
  for (size_t c = 0; c < t.right.size(); ++c) {
    right += t.right[c];
    all += t.labelled[c];
    occurring += t.labelled[c] + t.predicted[c] > 0;
    precision += ratio(t.right[c], t.predicted[c]);
    recall += ratio(t.right[c], t.labelled[c]);
    f1 += ratio(2 * t.right[c], t.predicted[c] + t.labelled[c]);
  }
  const double values[] = {ratio(right, all), ratio(precision, occurring), ratio(recall, occurring),
                           ratio(f1, occurring)};
  Scalars scalars;
  for (size_t i = 0; i < std::size(values); ++i) scalars.emplace_back(options_.prefix + kScalars[i], values[i]);
  return scalars;
}

std::vector<std::string> ConfusionMatrix::provides() const {
  std::vector<std::string> names;
  for (const char* s : kScalars) names.push_back(options_.prefix + s);
  return names;
}

void ConfusionMatrix::report(Monitors& monitors, const std::string& prefix) {
  if (counts_.num_elements() == 0) return;
  const std::string name = prefix + options_.prefix + "_confusion";
  monitors.put_image(name, image());
  if (counts_.shape()[0] <= kMostInTable) monitors.put_text(name, table());
}

HostTensor ConfusionMatrix::image() const {
  const int64_t classes = counts_.shape()[0], scale = std::max<int64_t>(1, kImageSide / classes);
  const Totals t = totals_of(counts_);
  HostTensor pixels({classes * scale, classes * scale, 1}, u8);
  for (int64_t y = 0; y < classes * scale; ++y)
    for (int64_t x = 0; x < classes * scale; ++x) {
      const double count = counts_.at(y / scale * classes + x / scale);
      pixels.set(y * classes * scale + x, std::round(255 * ratio(count, t.labelled[static_cast<size_t>(y / scale)])));
    }
  return pixels;
}

std::string ConfusionMatrix::class_name(int64_t c) const {
  return options_.class_names.empty() ? str(c) : options_.class_names[static_cast<size_t>(c)];
}

// In Markdown, which TensorBoard shows as a table.
std::string ConfusionMatrix::table() const {
  const int64_t classes = counts_.shape()[0];
  std::string text = "| label \\ prediction |", line = "|---|";
  for (int64_t c = 0; c < classes; ++c) {
    text += str(" ", class_name(c), " |");
    line += "---|";
  }
  text += "\n" + line;
  for (int64_t row = 0; row < classes; ++row) {
    text += str("\n| ", class_name(row), " |");
    for (int64_t c = 0; c < classes; ++c) text += str(" ", static_cast<int64_t>(counts_.at(row * classes + c)), " |");
  }
  return text;
}

}  // namespace martello
