#include <martello/base/log.h>
#include <martello/graph/node.h>
#include <martello/train/internal/trainer_impl.h>

#include <algorithm>
#include <cmath>

namespace martello {
namespace {

using Row = std::vector<std::string>;

bool all_equal(const std::vector<Row>& rows, size_t column, std::string_view value) {
  return std::all_of(rows.begin() + 1, rows.end(), [&](const Row& r) { return r[column] == value; });
}

void drop_column(std::vector<Row>& rows, size_t column) {
  for (Row& r : rows) r.erase(r.begin() + static_cast<std::ptrdiff_t>(column));
}

std::string table(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const Row& r : rows)
    for (size_t c = 0; c < r.size(); ++c) widths[c] = std::max(widths[c], r[c].size());
  std::string text;
  for (const Row& r : rows) {
    text += "\n";
    for (size_t c = 0; c < r.size(); ++c) text += r[c] + std::string(widths[c] - r[c].size() + 2, ' ');
    text.erase(text.find_last_not_of(' ') + 1);
  }
  return text;
}

}  // namespace

void describe_trainable_variables(const Graph& graph) {
  std::vector<Row> rows = {{"name", "shape", "elements", "device", "dtype"}};
  int64_t elements = 0, bytes = 0;
  for (const Variable& v : graph.collections().get(kTrainableVariables)) {
    const Tensor t = v.handle();
    if (t.name().starts_with("tower")) continue;
    const int64_t count = t.shape().num_elements();
    elements += count;
    bytes += count * size_of(t.dtype());
    rows.push_back({t.name(), t.shape().str(), str(count), t.node()->device, str(t.dtype())});
  }
  if (rows.size() == 1) return logger::warn("[trainer] the graph has no trainable variable.");
  const size_t count = rows.size() - 1;
  if (all_equal(rows, 4, str(f32))) drop_column(rows, 4);
  if (all_equal(rows, 3, rows[1][3])) drop_column(rows, 3);
  logger::info("[trainer] trainable variables:", table(rows), "\n", count, " variables, ", elements, " elements, ",
               std::round(static_cast<double>(bytes) / 1048576 * 100) / 100, " MB.");
}

}  // namespace martello
