#pragma once
#include <martello/ops/data_format.h>
#include <martello/ops/internal/naive_index.h>

#include <cmath>

// For tests: normalization by the definition, in f64.
namespace martello::testing {

struct NaiveMoments {
  std::vector<double> mean, variance;  // by group
};

// Elements with the same number group(index) share moments; two passes.
inline NaiveMoments naive_moments(const HostTensor& x, int64_t groups,
                                  const std::function<int64_t(const Index&)>& group) {
  const auto n = static_cast<size_t>(groups);
  NaiveMoments m{std::vector<double>(n, 0), std::vector<double>(n, 0)};
  std::vector<double> count(n, 0);
  const auto at_group = [&](int64_t i) { return static_cast<size_t>(group(index_of(x.shape(), i))); };
  for (int64_t i = 0; i < x.num_elements(); ++i) m.mean[at_group(i)] += x.at(i), count[at_group(i)] += 1;
  for (size_t g = 0; g < n; ++g) m.mean[g] /= count[g];
  for (int64_t i = 0; i < x.num_elements(); ++i)
    m.variance[at_group(i)] += (x.at(i) - m.mean[at_group(i)]) * (x.at(i) - m.mean[at_group(i)]);
  for (size_t g = 0; g < n; ++g) m.variance[g] /= count[g];
  return m;
}

// gamma (x - mean) / sqrt(variance + epsilon) + beta, with gamma and beta by index[axis].
inline HostTensor naive_normalize(const HostTensor& x, const NaiveMoments& m,
                                  const std::function<int64_t(const Index&)>& group, const HostTensor& gamma,
                                  const HostTensor& beta, int axis, double epsilon) {
  return tabulate(x.shape(), f64, [&](const Index& i) {
    const auto g = static_cast<size_t>(group(i));
    const int64_t c = i[static_cast<size_t>(axis)];
    return gamma.at(c) * (at(x, i) - m.mean[g]) / std::sqrt(m.variance[g] + epsilon) + beta.at(c);
  });
}

}  // namespace martello::testing
