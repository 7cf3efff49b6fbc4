#include <martello/codec/histogram.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace martello {
namespace {

std::vector<double> make_limits() {
  std::vector<double> positive;
  for (double v = 1e-12; v < 1e20; v *= 1.1) positive.push_back(v);
  positive.push_back(std::numeric_limits<double>::max());
  std::vector<double> all;
  for (auto v = positive.rbegin(); v != positive.rend(); ++v) all.push_back(-*v);
  all.push_back(0);
  all.insert(all.end(), positive.begin(), positive.end());
  return all;
}

void add(Histogram& h, std::vector<double>& counts, const std::vector<double>& limits, double value) {
  if (!std::isfinite(value)) {
    ++h.left_out;
    return;
  }
  const auto bucket = std::upper_bound(limits.begin(), limits.end(), value);
  ++counts[static_cast<size_t>(std::min(bucket, limits.end() - 1) - limits.begin())];
  h.min = h.count == 0 ? value : std::min(h.min, value);
  h.max = h.count == 0 ? value : std::max(h.max, value);
  h.sum += value;
  h.sum_of_squares += value * value;
  ++h.count;
}

}  // namespace

Histogram histogram_of(const HostTensor& values) {
  static const std::vector<double> limits = make_limits();
  Histogram h;
  std::vector<double> counts(limits.size());
  for (int64_t i = 0; i < values.num_elements(); ++i) add(h, counts, limits, values.at(i));
  for (size_t i = 0; i < limits.size(); ++i) {
    const bool joins = !h.counts.empty() && counts[i] == 0 && h.counts.back() == 0;
    if (joins) {
      h.limits.back() = limits[i];
    } else {
      h.limits.push_back(limits[i]);
      h.counts.push_back(counts[i]);
    }
  }
  return h;
}

}  // namespace martello
