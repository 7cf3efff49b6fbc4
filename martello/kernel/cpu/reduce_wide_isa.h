#pragma once
#include <martello/kernel/cpu/reduce_columns_isa.h>

// Rows of at least the lanes, of any length. See Note [Order of sums].
namespace martello::cpu::MARTELLO_ISA {
namespace {

// Rows that lie one behind the other and fit into G vectors: y is in registers, and memory is read in order. The last
// four vectors overlap where the row has no room for all: lanes for the same element hold the same number.
template <class T, class Op, int G>
void add_short_rows(const RowStretch<T>& s, T* y) {
  constexpr int64_t w = Vec<T>::kLanes, kAhead = 2048 / static_cast<int64_t>(sizeof(T));
  const int64_t n = s.columns;
  const auto at = [n](int k) { return k < G - 4 ? k * w : smaller(k * w, n - w); };
  const int64_t ahead = s.next ? kAhead : 0;
  const T* x = s.x;
  Vec<T> sums[G];
  for (int k = 0; k < G; ++k) sums[k] = Vec<T>::load((s.is_first ? x : y) + at(k));
  for (int64_t r = s.is_first ? 1 : 0; r < s.rows; ++r) {
    const T* row = x + r * n;
    for (int k = 0; k < G; ++k) {
      ask_for(row + ahead + k * w);
      sums[k] = Op::apply(sums[k], Vec<T>::load(row + at(k)));
    }
  }
  for (int k = 0; k < G; ++k) sums[k].store(y + at(k));
}

// Whether registers hold the sums of a row; half of those that AVX-512 has, most of those that others have.
template <class T>
bool is_short_row(int64_t columns) {
  return columns <= (kVecBytes == 64 ? 16 : 12) * Vec<T>::kLanes;
}
template <class T, class Op, int G>
void add_short_rows_of(const RowStretch<T>& s, T* y) {
  if constexpr (G > 4) {
    if (s.columns <= (G - 4) * Vec<T>::kLanes) return add_short_rows_of<T, Op, G - 4>(s, y);
  }
  add_short_rows<T, Op, G>(s, y);
}

template <class T, class Op>
void add_all_rows(const RowStretch<T>& s, T* y) {
  if (s.columns == s.stride && is_short_row<T>(s.columns)) add_short_rows_of<T, Op, kVecBytes == 64 ? 16 : 12>(s, y);
  else add_long_rows<T, Op>(s, y);
}

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
