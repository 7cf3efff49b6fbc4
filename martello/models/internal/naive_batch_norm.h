#pragma once
#include <martello/models/internal/golden.h>

#include <cmath>
#include <vector>

// Statistics of a batch as their formulas say, for tests.
namespace martello::internal {

struct Stats {
  std::vector<double> mean, variance;
};

// x [n, channels] in f64.
inline Stats naive_stats(const HostTensor& x, int64_t channels, int64_t first = 0, int64_t count = -1) {
  const int64_t rows = count < 0 ? x.num_elements() / channels : count;
  Stats s{std::vector<double>(static_cast<size_t>(channels)), std::vector<double>(static_cast<size_t>(channels))};
  for (int64_t c = 0; c < channels; ++c) {
    auto& mean = s.mean[static_cast<size_t>(c)];
    auto& variance = s.variance[static_cast<size_t>(c)];
    for (int64_t r = first; r < first + rows; ++r) mean += x.at(r * channels + c) / static_cast<double>(rows);
    for (int64_t r = first; r < first + rows; ++r)
      variance += std::pow(x.at(r * channels + c) - mean, 2) / static_cast<double>(rows);
  }
  return s;
}

inline double normalized(double x, const Stats& s, size_t c, double epsilon) {
  return (x - s.mean[c]) / std::sqrt(s.variance[c] + epsilon);
}

// Each channel of three with a mean of its own.
inline HostTensor shifted(const Shape& shape) {
  HostTensor x = golden_values<double>("x", shape, {0, 3});
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, x.at(i) + static_cast<double>(i % 3));
  return x;
}

}  // namespace martello::internal
