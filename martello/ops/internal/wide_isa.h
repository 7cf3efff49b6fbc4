#pragma once
#include <martello/kernel/cpu/vecmath_log_isa.h>

// 64 bytes of lanes on every level, so that sums along lanes have one order and one result.
namespace martello::cpu::MARTELLO_ISA {

inline constexpr int kWideBytes = 64, kParts = kWideBytes / kVecBytes;
template <class T>
inline constexpr int kWideLanes = kWideBytes / static_cast<int>(sizeof(T));

struct AddLanes {
  template <class V>
  static V of(V a, V b) {
    return a + b;
  }
};
// Ignores NaN in a and keeps one in b: start from -inf and put the accumulator second.
struct LargerLanes {
  template <class V>
  static V of(V a, V b) {
    return a > b ? a : b;
  }
};

template <class T>
struct Wide {
  Vec<T> part[kParts];

  Wide() = default;
  explicit Wide(T value) {
    for (auto& p : part) p = Vec<T>(value);
  }
  static Wide load(const T* p) {
    Wide r;
    for (int i = 0; i < kParts; ++i) r.part[i] = Vec<T>::load(p + i * Vec<T>::kLanes);
    return r;
  }
  void store(T* p) const {
    for (int i = 0; i < kParts; ++i) part[i].store(p + i * Vec<T>::kLanes);
  }
  // The first n lanes, 0 < n <= all; reads and writes nothing beyond them.
  static Wide load_first(const T* p, int64_t n, T fill) {
    Wide r(fill);
    for (int i = 0; i < kParts; ++i) {
      const int64_t first = i * Vec<T>::kLanes, rest = n - first;
      if (rest >= Vec<T>::kLanes) r.part[i] = Vec<T>::load(p + first);
      else if (rest > 0) r.part[i] = martello::cpu::MARTELLO_ISA::load_first(p + first, rest, r.part[i]);
    }
    return r;
  }
  void store_first(T* p, int64_t n) const {
    for (int i = 0; i < kParts; ++i) {
      const int64_t first = i * Vec<T>::kLanes, rest = n - first;
      if (rest >= Vec<T>::kLanes) part[i].store(p + first);
      else if (rest > 0) store_lanes(p + first, rest, part[i]);
    }
  }

 private:
  static void store_lanes(T* p, int64_t n, Vec<T> x) {
#if MARTELLO_VEC_BYTES == 64
    if constexpr (sizeof(T) == 4) _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), x.v);
    else _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << n) - 1), x.v);
#else
    T lanes[Vec<T>::kLanes];
    x.store(lanes);
    for (int64_t i = 0; i < n; ++i) p[i] = lanes[i];
#endif
  }
};

template <class F, class T>
Wide<T> map(F f, Wide<T> a) {
  for (int i = 0; i < kParts; ++i) a.part[i] = f(a.part[i]);
  return a;
}
template <class F, class T>
Wide<T> map(F f, Wide<T> a, Wide<T> b) {
  for (int i = 0; i < kParts; ++i) a.part[i] = f(a.part[i], b.part[i]);
  return a;
}
template <class T>
Wide<T> operator+(Wide<T> a, Wide<T> b) {
  return map([](Vec<T> x, Vec<T> y) { return x + y; }, a, b);
}
template <class T>
Wide<T> operator-(Wide<T> a, Wide<T> b) {
  return map([](Vec<T> x, Vec<T> y) { return x - y; }, a, b);
}
template <class T>
Wide<T> operator*(Wide<T> a, Wide<T> b) {
  return map([](Vec<T> x, Vec<T> y) { return x * y; }, a, b);
}
template <class T>
Wide<T> larger(Wide<T> a, Wide<T> b) {
  return map([](Vec<T> x, Vec<T> y) { return Vec<T>(LargerLanes::of(x.v, y.v)); }, a, b);
}
template <class T>
Wide<T> log(Wide<T> x) {
  return map([](Vec<T> v) { return log(v); }, x);
}

// Lane i meets lane i + half, until one is left.
template <class Op>
float fold_native(__m128 x) {
  x = Op::of(x, _mm_movehl_ps(x, x));
  return Op::of(x[0], x[1]);
}
template <class Op>
double fold_native(__m128d x) {
  return Op::of(x[0], x[1]);
}
#if MARTELLO_VEC_BYTES >= 32
template <class Op>
float fold_native(__m256 x) {
  return fold_native<Op>(Op::of(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1)));
}
template <class Op>
double fold_native(__m256d x) {
  return fold_native<Op>(Op::of(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1)));
}
#endif
#if MARTELLO_VEC_BYTES == 64
template <class Op>
float fold_native(__m512 x) {
  const __m256 high = __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
  return fold_native<Op>(Op::of(_mm512_castps512_ps256(x), high));
}
template <class Op>
double fold_native(__m512d x) {
  const __m256d high = __builtin_shufflevector(x, x, 4, 5, 6, 7);
  return fold_native<Op>(Op::of(_mm512_castpd512_pd256(x), high));
}
#endif
template <class Op, class T>
T fold_lanes(Wide<T> x) {
  for (int half = kParts / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) x.part[i] = Vec<T>(Op::of(x.part[i].v, x.part[i + half].v));
  return fold_native<Op>(x.part[0].v);
}

}  // namespace martello::cpu::MARTELLO_ISA
