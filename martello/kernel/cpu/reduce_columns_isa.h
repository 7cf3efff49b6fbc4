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
  bool streaming;  // y, of at most kFewRows rows, goes past the caches
};

// Prefetchers give up at the end of each stretch, so the next rows are asked for by hand; into the second cache, as
// rows of a power of two would push each other out of the first.
inline void ask_for(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }

// Elements from p on until one is aligned to the vector.
template <class T>
int64_t elements_to_aligned(const T* p) {
  return static_cast<int64_t>((kVecBytes - reinterpret_cast<uintptr_t>(p) % kVecBytes) % kVecBytes / sizeof(T));
}

// y = sums + R rows of x, or the R rows where there are no sums yet. A rows from `next` on are asked for, if it is
// there.
template <class T, class Op, int R, int A>
void add_rows(const RowStretch<T>& s, const T* x, const T* sums, const T* next, T* y) {
  constexpr int64_t w = Vec<T>::kLanes, line = 64 / static_cast<int64_t>(sizeof(T));
  const auto part = [&](int64_t i, int64_t n) {
    Vec<T> sum = load_valid<T, Op>(x + i, n);
    if (sums) sum = Op::apply(load_valid<T, Op>(sums + i, n), sum);
    for (int r = 1; r < R; ++r) sum = Op::apply(sum, load_valid<T, Op>(x + r * s.stride + i, n));
    store_valid(y + i, n, sum);
  };
  int64_t i = s.streaming ? smaller(elements_to_aligned(y), s.columns) : 0;
  if (i > 0) part(0, i);
  for (; i + line <= s.columns; i += line) {
    for (int r = 0; next && r < A; ++r) ask_for(next + r * s.stride + i);
    for (int64_t k = i; k < i + line; k += w) {
      Vec<T> sum = sums ? Op::apply(Vec<T>::load(sums + k), Vec<T>::load(x + k)) : Vec<T>::load(x + k);
      for (int r = 1; r < R; ++r) sum = Op::apply(sum, Vec<T>::load(x + r * s.stride + k));
      if (s.streaming) stream(y + k, sum);
      else sum.store(y + k);
    }
  }
  for (; i < s.columns; i += w) part(i, s.columns - i);
}

// The last `count` <= R rows.
template <class T, class Op, int R, int A>
void add_last_rows(const RowStretch<T>& s, int64_t count, const T* sums, T* y) {
  if constexpr (R > 0) {
    if (count < R) return add_last_rows<T, Op, R - 1, A>(s, count, sums, y);
    add_rows<T, Op, R, A>(s, s.x + (s.rows - R) * s.stride, sums, s.next, y);
  }
}

template <class T, class Op, int R>
void add_groups_of_rows(const RowStretch<T>& s, T* y) {
  const T* sums = s.is_first ? nullptr : y;
  int64_t r = 0;
  for (; r + R <= s.rows; r += R, sums = y) {
    const T* next = s.next && r + R < s.rows ? s.x + (r + R) * s.stride : s.next;
    add_rows<T, Op, R, R>(s, s.x + r * s.stride, sums, next, y);
  }
  add_last_rows<T, Op, R - 1, R>(s, s.rows - r, sums, y);
}

constexpr int kFewRows = 12;

// All of `rows` <= R rows at once.
template <class T, class Op, int R>
void add_few_rows(const RowStretch<T>& s, T* y) {
  if constexpr (R > 0) {
    if (s.rows < R) return add_few_rows<T, Op, R - 1>(s, y);
    add_rows<T, Op, R, R>(s, s.x, s.is_first ? nullptr : y, s.next, y);
  }
}

// Several rows at a time, so that y is touched seldom: eight, as more of them that are a power of two apart, and the
// next ones that are asked for, would push each other out of the caches.
template <class T, class Op>
void add_long_rows(const RowStretch<T>& s, T* y) {
  if (s.rows <= kFewRows) add_few_rows<T, Op, kFewRows>(s, y);
  else add_groups_of_rows<T, Op, 8>(s, y);
}

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
