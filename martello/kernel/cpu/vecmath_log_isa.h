#pragma once
#include <martello/kernel/cpu/vecmath_exp_isa.h>

// Logarithms. Within 2 ulp; log(0) = -inf, log of a negative number is NaN.
namespace martello::cpu::MARTELLO_ISA {

// (2 atanh(s) - 2 s) / s^3 as a polynomial of s^2, for s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)). ln(2) is split
// so that a multiple by an exponent is exact.
template <class T>
struct LogConstants;
template <>
struct LogConstants<float> {
  static constexpr float kTail[] = {0x1.555554p-1f, 0x1.999a7cp-2f, 0x1.2438acp-2f, 0x1.e2fd9ap-3f};
  static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f, kNormal = 0x1p-126f;
};
template <>
struct LogConstants<double> {
  static constexpr double kTail[] = {0x1.5555555555555p-1, 0x1.9999999999e06p-2, 0x1.249249242ab7bp-2,
                                     0x1.c71c7259a35cep-3, 0x1.745cde00edc39p-3, 0x1.3b20b4aee8696p-3,
                                     0x1.0f5bf906ea4d0p-3, 0x1.0f6a871ec08d1p-3};
  static constexpr double kLn2High = 0x1.62e42fefa3000p-1, kLn2Low = 0x1.3de6af278ece6p-42, kNormal = 0x1p-1022;
};

// x = m 2^e for any positive x.
template <class T>
auto frexp_any(Vec<T> x) {
  const auto subnormal = x < Vec<T>(LogConstants<T>::kNormal);
  auto r = frexp(select(subnormal, x * Vec<T>(0x1p54), x));
  r.e = select(subnormal, r.e - Vec<T>(54), r.e);
  return r;
}

template <class T>
Vec<T> log_specials(Vec<T> x, Vec<T> y) {
  const Vec<T> inf(__builtin_inf());
  y = select(x == inf, inf, y);
  y = select(x == Vec<T>(0), -inf, y);
  return select(x >= Vec<T>(0), y, Vec<T>(__builtin_nan("")));
}

// log(x) + low, for normal and subnormal positive x.
template <class T>
Vec<T> log_sum(Vec<T> x, Vec<T> low) {
  using C = LogConstants<T>;
  const auto p = frexp_any(x);
  const Vec<T> f = p.m - Vec<T>(1), s = f / (Vec<T>(2) + f), z = s * s, half = Vec<T>(0.5) * f * f;
  const Vec<T> tail = fma(s, half + z * polynomial(z, C::kTail), fma(p.e, Vec<T>(C::kLn2Low), low));
  return p.e * Vec<T>(C::kLn2High) - ((half - tail) - f);
}

template <class T>
Vec<T> log(Vec<T> x) {
  return log_specials(x, log_sum(x, Vec<T>(0)));
}

template <class T>
Vec<T> log1p(Vec<T> x) {
  const Vec<T> one(1), u = one + x;
  const Vec<T> rest = select(x > one, one - (u - x), x - (u - one));
  const Vec<T> y = log_specials(u, log_sum(u, rest / u));
  return select(abs(x) < Vec<T>(ExpConstants<T>::kTiny), x, y);
}

template <class T>
Vec<T> softplus(Vec<T> x) {
  return max(x, Vec<T>(0)) + log1p(exp(-abs(x)));
}

}  // namespace martello::cpu::MARTELLO_ISA
