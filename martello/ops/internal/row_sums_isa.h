#pragma once
#include <martello/ops/internal/wide_isa.h>

// Sums along a row in one order on every level: four groups of 64 bytes of lanes, then lane by lane.
namespace martello::cpu::MARTELLO_ISA {
namespace {

inline constexpr int64_t kRowTile = 4096;  // elements that are read twice while they are in the first cache

// Sums what f(offset, sums, lanes) adds to `sums` for each stretch of lanes.
template <class T, int kSums>
struct RowSums {
  Wide<T> sums[4][kSums];
  RowSums() {
    for (auto& group : sums)
      for (auto& s : group) s = Wide<T>(T{0});
  }
  template <class F>
  void run(int64_t n, F f) {
    constexpr int64_t w = kWideLanes<T>;
    int64_t i = 0;
    for (; i + 4 * w <= n; i += 4 * w)
      for (int64_t k = 0; k < 4; ++k) f(i + k * w, sums[k], w);
    for (; i + w <= n; i += w) f(i, sums[0], w);
    if (i < n) f(i, sums[0], n - i);
  }
  T total(int s) const { return fold_lanes<AddLanes>((sums[0][s] + sums[1][s]) + (sums[2][s] + sums[3][s])); }
};

template <class T>
inline Wide<T> wide(const T* x, int64_t lanes, T fill) {
  return lanes == kWideLanes<T> ? Wide<T>::load(x) : Wide<T>::load_first(x, lanes, fill);
}
template <class T>
inline void put_wide(Wide<T> y, T* to, int64_t lanes) {
  if (lanes == kWideLanes<T>) y.store(to);
  else y.store_first(to, lanes);
}

template <class T>
inline T tile_sum(const T* x, int64_t n) {
  RowSums<T, 1> sum;
  sum.run(n, [&](int64_t i, Wide<T>* s, int64_t lanes) { *s = *s + wide(x + i, lanes, T{0}); });
  return sum.total(0);
}
// The sum of squared distances from the mean.
template <class T>
inline T tile_squares(const T* x, int64_t n, T mean) {
  const Wide<T> m(mean);
  RowSums<T, 1> distances;
  distances.run(n, [&](int64_t i, Wide<T>* s, int64_t lanes) {
    const Wide<T> d = wide(x + i, lanes, mean) - m;
    *s = *s + d * d;
  });
  return distances.total(0);
}

// The mean of any number of elements and the sum of squared distances from it; NaN of none.
template <class T>
inline void row_moments(const T* x, int64_t n, double* mean, double* squares) {
  *mean = *squares = n > 0 ? 0 : __builtin_nan("");
  for (int64_t first = 0; first < n; first += kRowTile) {
    const int64_t count = n - first < kRowTile ? n - first : kRowTile;
    const T m = tile_sum(x + first, count) / static_cast<T>(count), q = tile_squares(x + first, count, m);
    const double all = static_cast<double>(first + count), d = static_cast<double>(m) - *mean;
    const double share = static_cast<double>(count) / all;
    *squares = first == 0 ? static_cast<double>(q)
                          : *squares + (static_cast<double>(q) + d * d * share * static_cast<double>(first));
    *mean += d * share;
  }
}

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
