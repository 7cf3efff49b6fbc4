#pragma once
#include <martello/ops/internal/softmax_exp_isa.h>

// Softmax along columns: rows are walked one after the other, a stretch of neighbouring columns of each.
namespace martello::cpu::MARTELLO_ISA {
namespace {

// A number for each column of a group.
template <class T, int B>
struct ColumnNumbers {
  Wide<T> block[B];
  explicit ColumnNumbers(T number) {
    for (Wide<T>& b : block) b = Wide<T>(number);
  }
  template <class F>
  ColumnNumbers of(F f) const {
    ColumnNumbers y = *this;
    for (Wide<T>& b : y.block) b = map(f, b);
    return y;
  }
};

// B blocks of lanes side by side, or `lanes` of one, of n rows that are `stride` apart.
template <class T, int B>
struct ColumnGroup {
  static constexpr int kBlocks = B;
  const T* x;
  int64_t n, stride, lanes;

  Wide<T> get(const T* row, int b) const { return B == 1 ? load(row, lanes) : Wide<T>::load(row + b * kWideLanes<T>); }
  void put(Wide<T> v, T* row, int b) const {
    if (B == 1) store(v, row, lanes);
    else v.store(row + b * kWideLanes<T>);
  }

  ColumnNumbers<T, B> largest() const {
    ColumnNumbers<T, B> m(static_cast<T>(kMinusInf));
    for (const T* row = x; row < x + n * stride; row += stride) {
      ask_for_row(row + kRowsAhead * stride);
      for (int b = 0; b < B; ++b) m.block[b] = larger(get(row, b), m.block[b]);
    }
    return m;
  }
  // sum(exp(x - shift)), each term stored in y unless that is null.
  template <class Exp>
  ColumnNumbers<T, B> exp_sum(const ColumnNumbers<T, B>& shift, T* y) const {
    ColumnNumbers<T, B> sum(T{0});
    for (int64_t i = 0; i < n * stride; i += stride) {
      ask_for_row(x + i + kRowsAhead * stride);
      for (int b = 0; b < B; ++b) {
        const Wide<T> e = map([](Vec<T> v) { return Exp::of(v); }, get(x + i, b) - shift.block[b]);
        if (y) put(e, y + i, b);
        sum.block[b] = sum.block[b] + e;
      }
    }
    return sum;
  }

 private:
  // Stretches of rows are too short for the prefetchers of the machine. A block of lanes is a line.
  static constexpr int64_t kRowsAhead = 8;
  static void ask_for_row(const T* row) {
    for (int b = 0; b < B; ++b) _mm_prefetch(reinterpret_cast<const char*>(row + b * kWideLanes<T>), _MM_HINT_T1);
  }
};

// Calls f(group, its first column).
template <class T, class F>
void for_column_groups(const T* x, int64_t n, int64_t stride, int64_t columns, F f) {
  constexpr int64_t w = kWideLanes<T>;
  int64_t j = 0;
  for (; j + 16 * w <= columns; j += 16 * w) f(ColumnGroup<T, 16>{x + j, n, stride, w}, j);
  for (; j + 4 * w <= columns; j += 4 * w) f(ColumnGroup<T, 4>{x + j, n, stride, w}, j);
  for (; j < columns; j += w) f(ColumnGroup<T, 1>{x + j, n, stride, columns - j < w ? columns - j : w}, j);
}

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
