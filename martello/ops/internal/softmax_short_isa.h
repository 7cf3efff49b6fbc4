#pragma once
#include <martello/ops/internal/softmax_exp_isa.h>

// Softmax of rows that fit in registers.
namespace martello::cpu::MARTELLO_ISA {
namespace {

// kRows rows of V blocks, the last of `last` lanes, in registers: the same operations in the same order as in the long
// form, a few rows at a time so that one does not wait for the other. A load of what was just stored with a mask would
// stall.
template <class T, int kRows, int V>
struct ShortRows {
  Wide<T> part[kRows][V];

  ShortRows(const T* x, int64_t n, int64_t last) {
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v + 1 < V; ++v) part[r][v] = Wide<T>::load(x + r * n + v * kWideLanes<T>);
      part[r][V - 1] = load(x + r * n + (V - 1) * kWideLanes<T>, last);
    }
  }
  void store_to(T* y, int64_t n, int64_t last) const {
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v + 1 < V; ++v) part[r][v].store(y + r * n + v * kWideLanes<T>);
      store(part[r][V - 1], y + r * n + (V - 1) * kWideLanes<T>, last);
    }
  }
  template <class F>
  void each(F f) {
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < V; ++v) part[r][v] = f(part[r][v], r);
  }
  // Leaves exp(x - max).
  void exp_and_sum(T* max, T* sum) {
    for (int r = 0; r < kRows; ++r) {
      Wide<T> m(static_cast<T>(kMinusInf));
      for (int v = 0; v < V; ++v) m = larger(part[r][v], m);
      max[r] = fold_lanes<LargerLanes>(m);
    }
    each([=](Wide<T> x, int r) { return map([](Vec<T> v) { return ShiftedExp::of(v); }, x - Wide<T>(max[r])); });
    for (int r = 0; r < kRows; ++r) {
      Wide<T> s(T{0});
      for (int v = 0; v < V; ++v) s = s + part[r][v];
      sum[r] = fold_lanes<AddLanes>(s);
    }
  }
};

struct SoftmaxShort {
  template <int kRows, int V, class T>
  static void run(const T* x, T* y, T* max, T* sum, int64_t n, int64_t last) {
    ShortRows<T, kRows, V> rows(x, n, last);
    rows.exp_and_sum(max, sum);
    rows.each([=](Wide<T> e, int r) { return e * Wide<T>(T{1} / sum[r]); });
    rows.store_to(y, n, last);
  }
};
struct ExpSumShort {
  template <int kRows, int V, class T>
  static void run(const T* x, T*, T* max, T* sum, int64_t n, int64_t last) {
    ShortRows<T, kRows, V>(x, n, last).exp_and_sum(max, sum);
  }
};
// y = (x - max) - log_sum
struct ShiftShort {
  template <int kRows, int V, class T>
  static void run(const T* x, T* y, T* max, T* log_sum, int64_t n, int64_t last) {
    ShortRows<T, kRows, V> rows(x, n, last);
    rows.each([=](Wide<T> v, int r) { return (v - Wide<T>(max[r])) - Wide<T>(log_sum[r]); });
    rows.store_to(y, n, last);
  }
};

constexpr int kShortBlocks = 4;
template <class T>
bool is_short(int64_t n) {
  return n > 0 && n <= kShortBlocks * kWideLanes<T>;
}

// Rows of at most V blocks.
template <class Step, int V, class T>
void run_short(const T* x, T* y, T* max, T* sum, int64_t rows, int64_t n) {
  const int64_t last = n - (V - 1) * kWideLanes<T>;
  if constexpr (V > 1) {
    if (last <= 0) return run_short<Step, V - 1>(x, y, max, sum, rows, n);
  }
  constexpr int kAtOnce = (kVecBytes == 64 ? 8 : 4) / V;
  int64_t r = 0;
  for (; r + kAtOnce <= rows; r += kAtOnce)
    Step::template run<kAtOnce, V>(x + r * n, y + r * n, max + r, sum + r, n, last);
  for (; r < rows; ++r) Step::template run<1, V>(x + r * n, y + r * n, max + r, sum + r, n, last);
}

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
