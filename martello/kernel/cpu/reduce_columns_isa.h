#pragma once
#include <martello/kernel/cpu/reduce_ops_isa.h>

// Rows of at least the lanes, added one after the other, element by element. See Note [Order of sums].
namespace martello::cpu::MARTELLO_ISA {
namespace {

// A stretch of columns of neighbouring rows, `stride` apart.
template <class T>
struct RowStretch {
  const T* x;
  int64_t rows, columns, stride;
  const T* next;   // where reading goes on after these rows, or null: no need to ask for anything ahead
  bool is_first;   // y holds nothing yet
  bool streaming;  // y, which is then aligned to the vector, goes past the caches
};

// Prefetchers give up at the end of each stretch, so the next rows are asked for by hand; into the second cache, as
// rows of a power of two would push each other out of the first.
inline void ask_for(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }

// y = y + R rows of x.
template <class T, class Op, int R>
void add_rows(const RowStretch<T>& s, const T* x, bool is_first, const T* next, T* y) {
  constexpr int64_t w = Vec<T>::kLanes, line = 64 / static_cast<int64_t>(sizeof(T));
  int64_t i = 0;
  for (; i + line <= s.columns; i += line) {
    for (int r = 0; next && r < R; ++r) ask_for(next + r * s.stride + i);
    for (int64_t k = i; k < i + line; k += w) {
      Vec<T> sum = is_first ? Vec<T>::load(x + k) : Op::apply(Vec<T>::load(y + k), Vec<T>::load(x + k));
      for (int r = 1; r < R; ++r) sum = Op::apply(sum, Vec<T>::load(x + r * s.stride + k));
      if (s.streaming) stream(y + k, sum);
      else sum.store(y + k);
    }
  }
  for (; i < s.columns; i += w) {
    const int64_t rest = s.columns - i;
    Vec<T> sum = load_valid<T, Op>(x + i, rest);
    if (!is_first) sum = Op::apply(load_valid<T, Op>(y + i, rest), sum);
    for (int r = 1; r < R; ++r) sum = Op::apply(sum, load_valid<T, Op>(x + r * s.stride + i, rest));
    store_valid(y + i, rest, sum);
  }
}

template <class T, class Op, int R>
void add_last_rows(const RowStretch<T>& s, const T* x, int64_t count, bool is_first, T* y) {
  if constexpr (R > 0) {
    if (count == R) return add_rows<T, Op, R>(s, x, is_first, nullptr, y);
    return add_last_rows<T, Op, R - 1>(s, x, count, is_first, y);
  }
}

// Four rows at a time, so that y is touched seldom; more would push each other out of the first cache where rows are a
// power of two. Very few rows go at once.
template <class T, class Op>
void add_long_rows(const RowStretch<T>& s, T* y) {
  if (s.rows < 8) return add_last_rows<T, Op, 7>(s, s.x, s.rows, s.is_first, y);
  int64_t r = 0;
  for (; r + 4 <= s.rows; r += 4) {
    const T* next = s.next && r + 4 < s.rows ? s.x + (r + 4) * s.stride : s.next;
    add_rows<T, Op, 4>(s, s.x + r * s.stride, s.is_first && r == 0, next, y);
  }
  add_last_rows<T, Op, 3>(s, s.x + r * s.stride, s.rows - r, s.is_first && r == 0, y);
}

// Rows that lie one behind the other and fit into G vectors: y is in registers, and memory is read in order. The last
// four vectors overlap where the row has no room for all: lanes for the same element hold the same number.
template <class T, class Op, int G>
void add_short_rows(const RowStretch<T>& s, T* y) {
  constexpr int64_t w = Vec<T>::kLanes, kAhead = 8192 / static_cast<int64_t>(sizeof(T));
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
