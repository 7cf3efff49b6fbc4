#pragma once
#include <martello/kernel/cpu/vec_isa.h>

// What vectors can do beyond operators. Same bits on every level.
namespace martello::cpu::MARTELLO_ISA {

template <class T>
Vec<T> select(Mask<T> m, Vec<T> yes, Vec<T> no) {
  return m.bits ? yes.v : no.v;
}
template <class T>
Vec<T> as_number(Mask<T> m) {
  return select(m, Vec<T>(1), Vec<T>(0));
}
template <class T>
bool any(Mask<T> m) {
#if MARTELLO_VEC_BYTES == 64
  if constexpr (sizeof(T) == 4) return _mm512_movepi32_mask(reinterpret_cast<__m512i>(m.bits)) != 0;
  else return _mm512_movepi64_mask(reinterpret_cast<__m512i>(m.bits)) != 0;
#else
  return MARTELLO_MM(movemask_ps)(reinterpret_cast<decltype(MARTELLO_MM(setzero_ps)())>(m.bits)) != 0;
#endif
}
template <class T>
Mask<T> is_nan(Vec<T> x) {
  return x != x;
}
// NaN when either is NaN, like numpy.maximum; of zeros with different signs the second.
template <class T>
Vec<T> max(Vec<T> x, Vec<T> y) {
  return select(is_nan(x), x, select(x > y, x, y));
}
template <class T>
Vec<T> min(Vec<T> x, Vec<T> y) {
  return select(is_nan(x), x, select(x < y, x, y));
}
// NaN stays: the instructions give their second operand then.
inline Vec<float> clamp(Vec<float> x, Vec<float> low, Vec<float> high) {
  return MARTELLO_MM(min_ps)(high.v, MARTELLO_MM(max_ps)(low.v, x.v));
}
inline Vec<double> clamp(Vec<double> x, Vec<double> low, Vec<double> high) {
  return MARTELLO_MM(min_pd)(high.v, MARTELLO_MM(max_pd)(low.v, x.v));
}
template <class T>
typename Vec<T>::Bits sign_bits(Vec<T> x) {
  return x.bits() & Vec<T>(-0.0).bits();
}
template <class T>
Vec<T> abs(Vec<T> x) {
  return Vec<T>::from_bits(x.bits() & ~Vec<T>(-0.0).bits());
}
template <class T>
Vec<T> copysign(Vec<T> magnitude, Vec<T> sign) {
  return Vec<T>::from_bits(abs(magnitude).bits() | sign_bits(sign));
}

#define MARTELLO_VEC_UNARY(name, f32_form, f64_form)        \
  inline Vec<float> name(Vec<float> x) { return f32_form; } \
  inline Vec<double> name(Vec<double> x) { return f64_form; }
#define MARTELLO_VEC_ROUND(name, mode) \
  MARTELLO_VEC_UNARY(name, MARTELLO_MM_ROUND(ps, x.v, (mode)), MARTELLO_MM_ROUND(pd, x.v, (mode)))
MARTELLO_VEC_UNARY(sqrt, MARTELLO_MM_SQRT(ps, x.v), MARTELLO_MM_SQRT(pd, x.v))
MARTELLO_VEC_ROUND(round, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)  // half to even
MARTELLO_VEC_ROUND(floor, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
MARTELLO_VEC_ROUND(ceil, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
MARTELLO_VEC_ROUND(trunc, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#undef MARTELLO_VEC_UNARY
#undef MARTELLO_VEC_ROUND

struct WideVec {
  Vec<double> low, high;
};
inline WideVec widen(Vec<float> x) {
#if MARTELLO_VEC_BYTES == 64
  using Native = Vec<double>::Native;
  const auto low = __builtin_shufflevector(x.v, x.v, 0, 1, 2, 3, 4, 5, 6, 7);
  const auto high = __builtin_shufflevector(x.v, x.v, 8, 9, 10, 11, 12, 13, 14, 15);
  return {Vec<double>(__builtin_convertvector(low, Native)), Vec<double>(__builtin_convertvector(high, Native))};
#elif MARTELLO_VEC_BYTES == 32
  return {Vec<double>(_mm256_cvtps_pd(_mm256_castps256_ps128(x.v))),
          Vec<double>(_mm256_cvtps_pd(_mm256_extractf128_ps(x.v, 1)))};
#else
  return {Vec<double>(_mm_cvtps_pd(x.v)), Vec<double>(_mm_cvtps_pd(_mm_movehl_ps(x.v, x.v)))};
#endif
}
inline Vec<float> narrow(WideVec x) {
#if MARTELLO_VEC_BYTES == 64
  typedef float Half __attribute__((vector_size(32)));
  const Half low = __builtin_convertvector(x.low.v, Half), high = __builtin_convertvector(x.high.v, Half);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#elif MARTELLO_VEC_BYTES == 32
  return _mm256_set_m128(_mm256_cvtpd_ps(x.high.v), _mm256_cvtpd_ps(x.low.v));
#else
  return _mm_movelh_ps(_mm_cvtpd_ps(x.low.v), _mm_cvtpd_ps(x.high.v));
#endif
}

#if MARTELLO_VEC_BYTES > 16
inline Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) { return MARTELLO_MM(fmadd_ps)(a.v, b.v, c.v); }
inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) { return MARTELLO_MM(fmadd_pd)(a.v, b.v, c.v); }
#else
inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  Vec<double> r;
  for (int i = 0; i < Vec<double>::kLanes; ++i) r.v[i] = __builtin_fma(a.v[i], b.v[i], c.v[i]);
  return r;
}
// a * b is exact in double. The sum is rounded to odd: an inexact one whose last bit is 0 moves to the neighbour on the
// side of the error; then rounding to float is as if done once.
inline Vec<double> product_sum_to_odd(Vec<double> a, Vec<double> b, Vec<double> c) {
  const Vec<double> p = a * b, s = p + c, t = s - p;
  const Vec<double> error = (p - (s - t)) + (c - t);
  const auto inexact = ((error < Vec<double>(0)) | (error > Vec<double>(0))).bits & ((s.bits() & 1) - 1);
  const auto away = ((error > Vec<double>(0)).bits ^ (s < Vec<double>(0)).bits) & inexact;
  return Vec<double>::from_bits(s.bits() - away + (~away & inexact));
}
inline Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  const WideVec x = widen(a), y = widen(b), z = widen(c);
  return narrow({product_sum_to_odd(x.low, y.low, z.low), product_sum_to_odd(x.high, y.high, z.high)});
}
#endif

// 2^k for integral k within the normal exponents.
inline Vec<float> pow2(Vec<float> k) { return Vec<float>::from_bits(((k + Vec<float>(0x1.8p23)).bits() + 127) << 23); }
inline Vec<double> pow2(Vec<double> k) {
  return Vec<double>::from_bits(((k + Vec<double>(0x1.8p52)).bits() + 1023) << 52);
}

// y 2^k for integral k, rounded once.
#if MARTELLO_VEC_BYTES == 64
inline Vec<float> scale(Vec<float> y, Vec<float> k) { return _mm512_maskz_scalef_ps(MARTELLO_ALL_ps, y.v, k.v); }
inline Vec<double> scale(Vec<double> y, Vec<double> k) { return _mm512_maskz_scalef_pd(MARTELLO_ALL_pd, y.v, k.v); }
#else
// In two steps because 2^k alone may leave the range of normal numbers. The first is exact for y within [2^-30, 2^30]
// and k within twice the normal exponents.
template <class T>
Vec<T> scale(Vec<T> y, Vec<T> k) {
  const Vec<T> half = floor(k * Vec<T>(0.5));
  return y * pow2(half) * pow2(k - half);
}
#endif

template <class T>
struct MantissaExponent {
  Vec<T> m, e;
};
// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for normal positive x.
inline MantissaExponent<float> frexp(Vec<float> x) {
  using Unsigned = VecTypes<float>::Unsigned;
  constexpr uint32_t root = 0x3f3504f3, bias = 127u << 23;
  const Unsigned i = Unsigned(x.v) - root, e = ((i + bias) >> 23) | 0x4b000000u;
  return {Vec<float>(Vec<float>::Native((i & 0x7fffffu) + root)),
          Vec<float>(Vec<float>::Native(e)) - Vec<float>(8388735)};
}
inline MantissaExponent<double> frexp(Vec<double> x) {
  using Unsigned = VecTypes<double>::Unsigned;
  constexpr uint64_t root = 0x3fe6a09e667f3bcd, bias = uint64_t{1023} << 52;
  const Unsigned i = Unsigned(x.v) - root, e = ((i + bias) >> 52) | 0x4330000000000000u;
  return {Vec<double>(Vec<double>::Native((i & 0xfffffffffffffu) + root)),
          Vec<double>(Vec<double>::Native(e)) - Vec<double>(0x1p52 + 1023)};
}

}  // namespace martello::cpu::MARTELLO_ISA

#include <martello/kernel/cpu/vec_memory_isa.h>
