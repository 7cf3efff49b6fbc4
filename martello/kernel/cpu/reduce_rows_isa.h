#pragma once
#include <martello/kernel/cpu/reduce_packed_isa.h>

// The inner loops of reductions. See Note [Order of sums].
namespace martello::cpu::MARTELLO_ISA {
namespace {

// The lanes of a row of V vectors, the last of which has `last` of them, folded to one vector.
template <class T, class Op, int V>
Vec<T> short_row_vector(const T* x, int64_t last) {
  constexpr int w = Vec<T>::kLanes;
  Vec<T> lanes[V];
  for (int k = 0; k + 1 < V; ++k) lanes[k] = Vec<T>::load(x + k * w);
  lanes[V - 1] = load_valid<T, Op>(x + (V - 1) * w, last);
  for (int half = kLanes<T> / w / 2; half > 0; half /= 2) {
    for (int k = 0; k < half && k + half < V; ++k) lanes[k] = Op::apply(lanes[k], lanes[k + half]);
  }
  return lanes[0];
}

// The lanes of a row of n < two blocks, more than the lanes, folded to one vector.
template <class T, class Op>
Vec<T> long_row_vector(const T* x, int64_t n) {
  constexpr int64_t w = Vec<T>::kLanes, vectors = kLanes<T> / w;
  Vec<T> lanes[vectors];
  for (int64_t k = 0; k < vectors; ++k) lanes[k] = Vec<T>::load(x + k * w);
  int64_t i = kLanes<T>;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
    for (int64_t k = 0; k < vectors; ++k) lanes[k] = Op::apply(lanes[k], Vec<T>::load(x + i + k * w));
  }
  for (int64_t k = 0; k < vectors && i + k * w < n; ++k) {
    lanes[k] = Op::apply(lanes[k], load_valid<T, Op>(x + i + k * w, n - i - k * w));
  }
  for (int64_t half = vectors / 2; half > 0; half /= 2) {
    for (int64_t k = 0; k < half; ++k) lanes[k] = Op::apply(lanes[k], lanes[k + half]);
  }
  return lanes[0];
}

// Folds each of `2 half` rows' vectors to one number; the numbers come in the order of the rows.
template <class T, class Op, int half>
Vec<T> fold_rows(const Vec<T>* rows) {
  constexpr int w = Vec<T>::kLanes, count = w / half / 2;  // results of one fold_two stem from 2 count rows
  if constexpr (half == w) {
    return rows[0];
  } else {
    const Vec<T> x = fold_rows<T, Op, 2 * half>(rows), y = fold_rows<T, Op, 2 * half>(rows + count);
    return fold_two<T, Op, half>(x, y, std::make_integer_sequence<int, w>());
  }
}

// y[r] = all of row r, which row_vector(r) folds to one vector.
template <class T, class Op, class RowVector>
void reduce_rows_by(int64_t rows, T* y, RowVector row_vector) {
  constexpr int w = Vec<T>::kLanes;
  Vec<T> vectors[w];
  int64_t r = 0;
  for (; r + w <= rows; r += w) {
    for (int k = 0; k < w; ++k) vectors[k] = row_vector(r + k);
    fold_rows<T, Op, 1>(vectors).store(y + r);
  }
  if (r == rows) return;
  for (int k = 0; k < w; ++k) vectors[k] = r + k < rows ? row_vector(r + k) : Op::neutral();
  store_first(y + r, rows - r, fold_rows<T, Op, 1>(vectors));
}

// Rows of at most V vectors, which is no more than the lanes.
template <class T, class Op, int V>
void reduce_short_rows(const T* x, int64_t rows, int64_t n, T* y) {
  constexpr int64_t before = (V - 1) * Vec<T>::kLanes;
  if constexpr (V > 1) {
    if (n <= before) return reduce_short_rows<T, Op, V - 1>(x, rows, n, y);
  }
  reduce_rows_by<T, Op>(rows, y, [=](int64_t r) { return short_row_vector<T, Op, V>(x + r * n, n - before); });
}

// y[r] = all of x[r, 0 .. n), n < two blocks; y of short rows may be streamed.
template <class T, class Op>
void reduce_rows(const T* x, int64_t rows, int64_t n, T* y, bool may_stream) {
  constexpr int w = Vec<T>::kLanes;
  if (n > kLanes<T>)
    return reduce_rows_by<T, Op>(rows, y, [=](int64_t r) { return long_row_vector<T, Op>(x + r * n, n); });
  const int64_t packed = n <= w ? rows / w * w : 0;
  const bool streaming = may_stream && reinterpret_cast<uintptr_t>(y) % kVecBytes == 0;
  if (packed > 0) reduce_packed_rows<T, Op, w>(x, packed, n, y, streaming);
  if (packed < rows) reduce_short_rows<T, Op, kLanes<T> / w>(x + packed * n, rows - packed, n, y + packed);
}

// Vectors [first, first + G) of the merged rows.
template <class T, class Op, int G>
void merged_vectors(const T* x, int64_t n, int64_t width, int64_t first, T* lanes) {
  constexpr int64_t w = Vec<T>::kLanes;
  Vec<T> sums[G];
  x += first * w;
  n -= first * w;
  for (int k = 0; k < G; ++k) sums[k] = load_valid<T, Op>(x + k * w, n - k * w);
  int64_t i = width;
  for (; i + G * w <= n; i += width) {
    for (int k = 0; k < G; ++k) sums[k] = Op::apply(sums[k], Vec<T>::load(x + i + k * w));
  }
  for (; i < n; i += width) {
    for (int k = 0; k < G; ++k) sums[k] = Op::apply(sums[k], load_valid<T, Op>(x + i + k * w, n - i - k * w));
  }
  for (int k = 0; k < G; ++k) sums[k].store(lanes + (first + k) * w);
}

template <class T, class Op, int G>
void merged_rest(const T* x, int64_t n, int64_t width, int64_t first, int64_t count, T* lanes) {
  if constexpr (G > 0) {
    if (count == G) return merged_vectors<T, Op, G>(x, n, width, first, lanes);
    return merged_rest<T, Op, G - 1>(x, n, width, first, count, lanes);
  }
}

// y[k] = all of x[0 .. rows, k], rows < two blocks, 1 < inner < lanes. Lanes beyond a merged row hold numbers of the
// next one and are never used.
template <class T, class Op>
void reduce_narrow(const T* x, int64_t rows, int64_t inner, int64_t merged, T* y) {
  constexpr int64_t w = Vec<T>::kLanes;
  const int64_t n = rows * inner, width = merged * inner;
  alignas(64) T lanes[2 * kLanes<T> + 2 * w];
  const int64_t vectors = (smaller(width, n) + w - 1) / w;
  int64_t v = 0;
  for (; v + 8 <= vectors; v += 8) merged_vectors<T, Op, 8>(x, n, width, v, lanes);
  merged_rest<T, Op, 7>(x, n, width, v, vectors - v, lanes);
  for (int64_t half = merged / 2; half > 0; half /= 2) {
    const int64_t length = half * inner;
    if (length >= n) continue;
    for (int64_t i = 0; i < length; i += w) {
      Op::apply(Vec<T>::load(lanes + i), load_valid<T, Op>(lanes + i + length, n - i - length)).store(lanes + i);
    }
  }
  for (int64_t i = 0; i < inner; i += w) store_valid(y + i, inner - i, Vec<T>::load(lanes + i));
}

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
