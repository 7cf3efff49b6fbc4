#pragma once
#include <martello/kernel/cpu/vecmath_log_isa.h>

// pow, within 2 ulp; special values as IEEE 754 says: pow(x, 0) = pow(1, y) = 1, NaN for a negative x and an y that is
// not integral ...
namespace martello::cpu::MARTELLO_ISA {

// A number as the unevaluated sum high + low.
struct Pair {
  Vec<double> high, low;
};
inline Pair two_product(Vec<double> a, Vec<double> b) {
  const Vec<double> p = a * b;
  return {p, fma(a, b, -p)};
}
inline Pair two_sum(Vec<double> a, Vec<double> b) {
  const Vec<double> s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
inline Pair product(Pair a, Pair b) {
  const Pair p = two_product(a.high, b.high);
  return {p.high, p.low + fma(a.high, b.low, a.low * b.high)};
}

// (2 atanh(s) - 2 s - 2/3 s^3) / s^5 as a polynomial of s^2.
inline constexpr double kPairLogTail[] = {0x1.9999999999997p-2, 0x1.2492492492e15p-2, 0x1.c71c71c5b5a2ep-3,
                                          0x1.745d181cb1827p-3, 0x1.3b1367b3c8715p-3, 0x1.11200ca72ce2ap-3,
                                          0x1.de4b530fc16e9p-4, 0x1.ea5e018ccdd50p-4};

// log(x) with some 65 bits, for positive finite x.
inline Pair pair_log(Vec<double> x) {
  using V = Vec<double>;
  using C = LogConstants<double>;
  const auto p = frexp_any(x);
  const V f = p.m - V(1), g = V(2) + f, g_low = f - (g - V(2)), inverse = V(1) / g;
  Pair s;
  s.high = f * inverse;
  s.low = (fma(-s.high, g, f) - s.high * g_low) * inverse;
  const Pair z = product(s, s), cube = product(s, z);
  const Pair third = product(cube, {V(0x1.5555555555555p-1), V(0x1.5555555555555p-55)});
  const V tail = cube.high * z.high * polynomial(z.high, kPairLogTail);
  const Pair a = two_sum(p.e * V(C::kLn2High), s.high + s.high), b = two_sum(a.high, third.high);
  const V low = fma(p.e, V(C::kLn2Low), tail) + ((s.low + s.low) + third.low) + (a.low + b.low);
  const V high = b.high + low;
  return {high, low - (high - b.high)};
}

inline Vec<double> pow_positive(Vec<double> x, Vec<double> y) {
  using V = Vec<double>;
  const Pair l = pair_log(x), p = two_product(y, l.high);
  const V low = p.low + y * l.low;
  return exp_sum(p.high, select(abs(p.high) < V(800), low, V(0)));
}

inline Vec<double> pow(Vec<double> x, Vec<double> y) {
  using V = Vec<double>;
  const V a = abs(x), zero(0), one(1), inf(__builtin_inf());
  const Mask<double> integral = round(y) == y, odd = integral & (round(y * V(0.5)) != y * V(0.5));
  V r = pow_positive(a, y);
  r = select(a == zero, select(y < zero, inf, zero), r);
  r = select(a == inf, select(y < zero, zero, inf), r);
  r = select(a == one, one, r);
  r = select(odd, copysign(r, x), r);
  r = select((x < zero) & (a < inf) & !integral, V(__builtin_nan("")), r);
  r = select(is_nan(x) | is_nan(y), x + y, r);
  return select((x == one) | (y == zero), one, r);
}
inline Vec<float> pow(Vec<float> x, Vec<float> y) {
  const WideVec a = widen(x), b = widen(y);
  return narrow({pow(a.low, b.low), pow(a.high, b.high)});
}

}  // namespace martello::cpu::MARTELLO_ISA
