#pragma once
#include <martello/kernel/cpu/reduce_order.h>
#include <martello/kernel/cpu/vec_isa.h>

#include <utility>

// The inner loops of reductions. See Note [Order of sums].
namespace martello::cpu::MARTELLO_ISA {
namespace {

// The neutral element changes no bit of the other: -0 + x is x, also for x = -0.
template <class T>
struct Sum {
  static Vec<T> neutral() { return Vec<T>(-0.0); }
  static Vec<T> apply(Vec<T> x, Vec<T> y) { return x + y; }
};
template <class T>
struct Prod {
  static Vec<T> neutral() { return Vec<T>(1); }
  static Vec<T> apply(Vec<T> x, Vec<T> y) { return x * y; }
};
template <class T>
struct Max {
  static Vec<T> neutral() { return Vec<T>(-__builtin_inf()); }
  static Vec<T> apply(Vec<T> x, Vec<T> y) { return max(x, y); }
};
template <class T>
struct Min {
  static Vec<T> neutral() { return Vec<T>(__builtin_inf()); }
  static Vec<T> apply(Vec<T> x, Vec<T> y) { return min(x, y); }
};

template <class T>
constexpr int64_t kLanes = kLaneBytes / static_cast<int64_t>(sizeof(T));
template <class T>
constexpr int64_t kColumns = kColumnBytes / static_cast<int64_t>(sizeof(T));

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// A vector at p of which `valid` lanes (any number) exist; the others are neutral.
template <class T, class Op>
Vec<T> load_valid(const T* p, int64_t valid) {
  if (valid >= Vec<T>::kLanes) return Vec<T>::load(p);
  return valid > 0 ? load_first(p, valid, Op::neutral()) : Op::neutral();
}

// The lanes of a row of n <= one block, folded to one vector.
template <class T, class Op>
Vec<T> row_vector(const T* x, int64_t n) {
  constexpr int64_t w = Vec<T>::kLanes, vectors = kLanes<T> / w;
  if (n <= w) return load_valid<T, Op>(x, n);
  Vec<T> lanes[vectors];
  for (int64_t k = 0; k < vectors; ++k) lanes[k] = load_valid<T, Op>(x + k * w, n - k * w);
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

// Blocks of `half` lanes with even and odd numbers, of x and y in a row.
template <class T, class Op, int half, int... I>
Vec<T> fold_two(Vec<T> x, Vec<T> y, std::integer_sequence<int, I...>) {
  const Vec<T> even = __builtin_shufflevector(x.v, y.v, (I / half * 2 * half + I % half)...);
  const Vec<T> odd = __builtin_shufflevector(x.v, y.v, (I / half * 2 * half + half + I % half)...);
  return Op::apply(even, odd);
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

// y[r] = all of x[r, 0 .. n), n <= one block.
template <class T, class Op>
void reduce_rows(const T* x, int64_t rows, int64_t n, T* y) {
  constexpr int w = Vec<T>::kLanes;
  Vec<T> vectors[w];
  int64_t r = 0;
  for (; r + w <= rows; r += w, x += w * n) {
    if (n <= w) {
      for (int k = 0; k < w; ++k) vectors[k] = load_valid<T, Op>(x + k * n, n);
    } else {
      for (int k = 0; k < w; ++k) vectors[k] = row_vector<T, Op>(x + k * n, n);
    }
    fold_rows<T, Op, 1>(vectors).store(y + r);
  }
  if (r == rows) return;
  for (int k = 0; k < w; ++k) vectors[k] = r + k < rows ? row_vector<T, Op>(x + k * n, n) : Op::neutral();
  store_first(y + r, rows - r, fold_rows<T, Op, 1>(vectors));
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

template <class T>
void store_valid(T* p, int64_t valid, Vec<T> x) {
  if (valid >= Vec<T>::kLanes) x.store(p);
  else store_first(p, valid, x);
}

// y[k] = all of x[0 .. rows, k], rows <= one block, 1 < inner < lanes. Lanes beyond a merged row hold numbers of the
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

// y = y + R rows of x, `stride` apart, one after the other; without y when it is the first time.
template <class T, class Op, int R>
void accumulate(const T* x, int64_t columns, int64_t stride, bool first, T* y) {
  constexpr int64_t w = Vec<T>::kLanes;
  int64_t i = 0;
  for (; i + w <= columns; i += w) {
    Vec<T> sum = first ? Vec<T>::load(x + i) : Op::apply(Vec<T>::load(y + i), Vec<T>::load(x + i));
    for (int r = 1; r < R; ++r) sum = Op::apply(sum, Vec<T>::load(x + r * stride + i));
    sum.store(y + i);
  }
  if (i == columns) return;
  const int64_t rest = columns - i;
  Vec<T> sum = load_first(x + i, rest, Op::neutral());
  if (!first) sum = Op::apply(load_first(y + i, rest, Op::neutral()), sum);
  for (int r = 1; r < R; ++r) sum = Op::apply(sum, load_first(x + r * stride + i, rest, Op::neutral()));
  store_first(y + i, rest, sum);
}

// Long rows go eight at a time, so that y is touched seldom. Short ones go one by one: read in the order in which they
// lie, they arrive twice as fast, and y stays in the first cache.
template <class T, class Op>
void accumulate_rows(const T* x, int64_t rows, int64_t columns, int64_t stride, bool first, T* y) {
  constexpr int64_t kShortRow = 2048 / static_cast<int64_t>(sizeof(T));
  int64_t r = 0;
  for (; columns > kShortRow && r + 8 <= rows; r += 8)
    accumulate<T, Op, 8>(x + r * stride, columns, stride, first && r == 0, y);
  for (; r < rows; ++r) accumulate<T, Op, 1>(x + r * stride, columns, stride, first && r == 0, y);
}

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
