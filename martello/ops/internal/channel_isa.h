#pragma once
#include <martello/kernel/cpu/vec_isa.h>

// What the loops of the normalizations share.
namespace martello::cpu::MARTELLO_ISA {
namespace {

// Calls f(first element, lanes) for each vector of [0, n); `lanes` is a constant but for the last.
template <class T, class F>
inline void for_vectors(int64_t n, F f) {
  constexpr int64_t w = Vec<T>::kLanes;
  int64_t i = 0;
  for (; i + w <= n; i += w) f(i, w);
  if (i < n) f(i, n - i);
}
template <class T>
inline Vec<T> load(const T* x, int64_t lanes) {
  return lanes == Vec<T>::kLanes ? Vec<T>::load(x) : load_first(x, lanes, Vec<T>(0));
}
template <class T>
inline void store(T* to, int64_t lanes, Vec<T> y) {
  if (lanes == Vec<T>::kLanes) y.store(to);
  else store_first(to, lanes, y);
}
template <class T>
inline bool is_vector_aligned(const T* p) {
  return reinterpret_cast<uintptr_t>(p) % kVecBytes == 0;
}

template <class T>
inline Vec<T> affine(Vec<T> x, Vec<T> mean, Vec<T> scale, Vec<T> beta) {
  return (x - mean) * scale + beta;
}
// max(z, 0), NaN kept.
template <class T>
inline Vec<T> relu_of(Vec<T> z) {
  return select(z <= Vec<T>(0), Vec<T>(0), z);
}
// dy where z > 0, else 0.
template <class T>
inline Vec<T> relu_slope(Vec<T> z, Vec<T> dy) {
  return select(z > Vec<T>(0), dy, Vec<T>(0));
}

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
