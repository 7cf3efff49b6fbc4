#pragma once
#include <martello/kernel/cpu/reduce_ops_isa.h>

// Rows of at most one vector, several of them in each vector: the order of sums is that of fold_rows, in which most
// lanes of short rows would be neutral.
namespace martello::cpu::MARTELLO_ISA {
namespace {

// The largest power of two below n: the first fold that meets a row of n > 1.
constexpr int first_half(int n) { return n <= 2 ? 1 : 2 * first_half((n + 1) / 2); }

// Lane of two vectors in a row, loaded at 0 and at `second`, that holds element e.
template <class T>
constexpr int lane_of(int e, int second) {
  return e < Vec<T>::kLanes ? e : e - second + Vec<T>::kLanes;
}

// w / half rows, folded to `half` lanes each. They are more than one vector and at most two.
template <class T, class Op, int n, int... I>
Vec<T> first_fold(const T* x, std::integer_sequence<int, I...>) {
  constexpr int w = Vec<T>::kLanes, half = first_half(n), second = w / half * n - w;
  const Vec<T> a = Vec<T>::load(x), b = Vec<T>::load(x + second);
  const Vec<T> even = __builtin_shufflevector(a.v, b.v, lane_of<T>(I / half * n + I % half, second)...);
  const Vec<T> odd = __builtin_shufflevector(
      a.v, b.v, (half + I % half < n ? lane_of<T>(I / half * n + half + I % half, second) : 0)...);
  const Vec<T> folded = Op::apply(even, odd);
  if constexpr (n == 2 * half) return folded;
  else return select(Mask<T>{typename Vec<T>::Bits{(half + I % half < n ? -1 : 0)...}}, folded, even);
}

// Lanes [first, first + w / 4) of four rows of n <= 3 w / 4; those beyond n hold any number. One shuffle: two rows lie
// within each vector.
template <class T, int n, int first, int... I>
Vec<T> quarter(const T* x, std::integer_sequence<int, I...>) {
  constexpr int w = Vec<T>::kLanes, q = w / 4, last = 4 * n - w, third = first + 2 * n;
  constexpr int second = third < last ? third : last;
  const Vec<T> a = Vec<T>::load(x + first), b = Vec<T>::load(x + second);
  return __builtin_shufflevector(a.v, b.v,
                                 (first + I % q >= n ? 0
                                  : I < w / 2        ? I / q * n + I % q
                                                     : I / q * n + I % q + first - second + w)...);
}

// Four rows of w / 2 < n <= 3 w / 4, folded to w / 4 lanes each.
template <class T, class Op, int n, int... I>
Vec<T> first_two_folds(const T* x, std::integer_sequence<int, I...> lanes) {
  constexpr int w = Vec<T>::kLanes, q = w / 4;
  const Vec<T> low = quarter<T, n, 0>(x, lanes), high = quarter<T, n, 2 * q>(x, lanes);
  const Mask<T> is_there{typename Vec<T>::Bits{(2 * q + I % q < n ? -1 : 0)...}};
  return Op::apply(select(is_there, Op::apply(low, high), low), quarter<T, n, q>(x, lanes));
}

// w / half rows of n, folded to `half` lanes each.
template <class T, class Op, int n, int half>
Vec<T> fold_packed(const T* x) {
  constexpr int w = Vec<T>::kLanes;
  constexpr bool has_quarters = w >= 8 && n > w / 2 && n <= w / 4 * 3;
  constexpr auto lanes = std::make_integer_sequence<int, w>();
  if constexpr (half == w / 4 && has_quarters) {
    return first_two_folds<T, Op, n>(x, lanes);
  } else if constexpr (half == first_half(n)) {
    return first_fold<T, Op, n>(x, lanes);
  } else {
    const Vec<T> a = fold_packed<T, Op, n, 2 * half>(x), b = fold_packed<T, Op, n, 2 * half>(x + w / half / 2 * n);
    return fold_two<T, Op, half>(a, b, lanes);
  }
}

// y[r] = all of x[r, 0 .. n), n <= N <= one vector; `rows` is a multiple of the vector. `streaming`: y, which is then
// aligned to the vector, goes past the caches.
template <class T, class Op, int N>
void reduce_packed_rows(const T* x, int64_t rows, int64_t n, T* y, bool streaming) {
  constexpr int w = Vec<T>::kLanes;
  if constexpr (N == 1) {
    memcpy(y, x, static_cast<size_t>(rows) * sizeof(T));
  } else {
    if (n < N) return reduce_packed_rows<T, Op, N - 1>(x, rows, n, y, streaming);
    for (int64_t r = 0; r < rows; r += w, x += w * N) {
      const Vec<T> folded = fold_packed<T, Op, N, 1>(x);
      if (streaming) stream(y + r, folded);
      else folded.store(y + r);
    }
  }
}

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
