#pragma once
#include <martello/kernel/cpu/vec_isa.h>

// exp and what is made of it. Within 2 ulp for every argument; bounds are measured by vecmath_test.cc.
namespace martello::cpu::MARTELLO_ISA {

// c[0] + c[1] x + c[2] x^2 ..., by Horner's rule.
template <class T, int N>
Vec<T> polynomial(Vec<T> x, const T (&c)[N]) {
  Vec<T> r(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) r = fma(r, x, Vec<T>(c[i]));
  return r;
}

// Polynomials here and below are minimax fits, made for these forms: (exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 2.
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr float kTail[] = {0x1p-1f,       0x1.555556p-3f,  0x1.5554aep-5f,
                                    0x1.11109p-7f, 0x1.6d748ep-10f, 0x1.a1a148p-13f};
  static constexpr float kLn2High = 0x1.62e42ep-1f, kLn2Low = 0x1.efa39ep-25f, kHighest = 89, kLowest = -104.5f,
                         kMinusOne = -20, kTiny = 0x1p-25f;
};
template <>
struct ExpConstants<double> {
  static constexpr double kTail[] = {0x1p-1,
                                     0x1.5555555555559p-3,
                                     0x1.555555555555ap-5,
                                     0x1.111111110f6abp-7,
                                     0x1.6c16c16c14420p-10,
                                     0x1.a01a01afe865dp-13,
                                     0x1.a01a01b0c3e50p-16,
                                     0x1.71ddf84769289p-19,
                                     0x1.27e4c586e1a94p-22,
                                     0x1.af5eda6d9f781p-26,
                                     0x1.1f958ae696f73p-29};
  static constexpr double kLn2High = 0x1.62e42fefa39efp-1, kLn2Low = 0x1.abc9e3b39803fp-56, kHighest = 710,
                          kLowest = -746, kMinusOne = -40, kTiny = 0x1p-54;
};

// x = k ln(2) + r + low, |r| <= ln(2) / 2; tail = exp(r + low) - 1 - r.
template <class T>
struct ExpParts {
  Vec<T> k, r, tail;
};
template <class T>
ExpParts<T> exp_parts(Vec<T> x, Vec<T> x_low) {
  using C = ExpConstants<T>;
  const Vec<T> k = round(x * Vec<T>(0x1.71547652b82fep+0));
  const Vec<T> high = fma(k, Vec<T>(-C::kLn2High), x);  // exact
  const Vec<T> rest = fma(k, Vec<T>(-C::kLn2Low), x_low), r = high + rest, low = (high - r) + rest;
  return {k, r, fma(r * r, polynomial(r, C::kTail), fma(low, r, low))};
}

template <class T>
Vec<T> clamp_exponent(Vec<T> x, double lowest) {
  return clamp(x, Vec<T>(lowest), Vec<T>(ExpConstants<T>::kHighest));
}

// exp(x + x_low), for an x_low of at most some places of x. Almost correctly rounded.
template <class T>
Vec<T> exp_sum(Vec<T> x, Vec<T> x_low) {
  const ExpParts<T> p = exp_parts(clamp_exponent(x, ExpConstants<T>::kLowest), x_low);
  const Vec<T> one(1), s = one + p.r;
  return scale(s + (((one - s) + p.r) + p.tail), p.k);
}
template <class T>
Vec<T> exp(Vec<T> x) {
  using C = ExpConstants<T>;
  x = clamp_exponent(x, C::kLowest);
  const Vec<T> k = round(x * Vec<T>(0x1.71547652b82fep+0));
  const Vec<T> r = fma(k, Vec<T>(-C::kLn2Low), fma(k, Vec<T>(-C::kLn2High), x));
  return scale(Vec<T>(1) + fma(r * r, polynomial(r, C::kTail), r), k);
}

template <class T>
Vec<T> expm1(Vec<T> x) {
  using C = ExpConstants<T>;
  const ExpParts<T> p = exp_parts(clamp_exponent(x, C::kMinusOne), Vec<T>(0));
  const Vec<T> minus_k = -select(p.k > Vec<T>(100), Vec<T>(100), p.k);
  const Vec<T> y = scale((Vec<T>(1) - pow2(minus_k)) + (p.r + p.tail), p.k);
  return select(abs(x) < Vec<T>(C::kTiny), x, y);
}

// 1 / (1 + exp(-x)), without overflow on either side; the quotient is corrected by what 1 + e lost.
template <class T>
Vec<T> sigmoid(Vec<T> x) {
  const Vec<T> one(1), e = exp_sum(-abs(x), Vec<T>(0)), n = select(x < Vec<T>(0), e, one);
  const Vec<T> d = one + e, d_low = (one - d) + e, inverse = one / d, q = n * inverse;
  return fma(fma(-q, d, n) - q * d_low, inverse, q);
}

// (tanh(x) / x - 1) / x^2 as a polynomial of x^2 on |x| <= 0.625.
inline constexpr float kTanh32[] = {-0x1.555534p-2f, 0x1.11076ap-3f, -0x1.b8444cp-5f, 0x1.52569ap-6f, -0x1.76aa0cp-8f};
inline constexpr double kTanh64[] = {-0x1.5555555555555p-2,  0x1.11111111110d4p-3,   -0x1.ba1ba1ba175e5p-5,
                                     0x1.664f48818d7acp-6,   -0x1.226e352b37852p-7,  0x1.d6d3c5e6bb419p-9,
                                     -0x1.7da298282e69dp-10, 0x1.354dca813e0f3p-11,  -0x1.f4bf2e7a3fb3ap-13,
                                     0x1.91a5cff89ae3ap-14,  -0x1.335b093014704p-15, 0x1.8c2f118772ba1p-17,
                                     -0x1.31948923e6ca3p-19};
inline Vec<float> tanh_tail(Vec<float> z) { return polynomial(z, kTanh32); }
inline Vec<double> tanh_tail(Vec<double> z) { return polynomial(z, kTanh64); }

template <class T>
Vec<T> tanh(Vec<T> x) {
  const Vec<T> a = abs(x), z = x * x;
  const Vec<T> small = fma(x * z, tanh_tail(z), x);
  const Vec<T> large = Vec<T>(1) - Vec<T>(2) / (exp(a + a) + Vec<T>(1));
  return select(a < Vec<T>(0.625), small, copysign(large, x));
}

}  // namespace martello::cpu::MARTELLO_ISA
