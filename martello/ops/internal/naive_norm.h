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

// dx, dgamma and dbeta of naive_normalize() with these moments of x: dx = r (g - mean(g) - xhat mean(g xhat)) with
// g = gamma dy, xhat = (x - mean) r and means over a group.
inline HostTensors naive_normalize_grad(const HostTensor& x, const NaiveMoments& m,
                                        const std::function<int64_t(const Index&)>& group, const HostTensor& gamma,
                                        const HostTensor& dy, int axis, double epsilon) {
  std::vector<double> count(m.mean.size(), 0), sum(count), product(count);
  HostTensor dx(x.shape(), f64), dgamma(gamma.shape(), f64), dbeta(gamma.shape(), f64);
  for (const bool is_last : {false, true})
    for (int64_t k = 0; k < x.num_elements(); ++k) {
      const Index i = index_of(x.shape(), k);
      const auto n = static_cast<size_t>(group(i));
      const int64_t c = i[static_cast<size_t>(axis)];
      const double r = 1 / std::sqrt(m.variance[n] + epsilon), xhat = (x.at(k) - m.mean[n]) * r;
      const double g = gamma.at(c) * dy.at(k);
      if (is_last) {
        dx.set(k, r * (g - sum[n] / count[n] - xhat * product[n] / count[n]));
        continue;
      }
      count[n] += 1;
      sum[n] += g;
      product[n] += g * xhat;
      dgamma.set(c, dgamma.at(c) + dy.at(k) * xhat);
      dbeta.set(c, dbeta.at(c) + dy.at(k));
    }
  return {dx, dgamma, dbeta};
}

}  // namespace martello::testing
