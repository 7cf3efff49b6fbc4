#pragma once
#include <martello/kernel/cpu/vecmath_exp_isa.h>

// sin and cos, within 2 ulp for every finite argument; NaN for infinities.
namespace martello::cpu::MARTELLO_ISA {

template <class T>
struct TrigConstants;
template <>
struct TrigConstants<float> {
  static constexpr float kSin[] = {-0x1.555546p-3f, 0x1.11075cp-7f, -0x1.994ceep-13f};
  static constexpr float kCos[] = {0x1.55554ap-5f, -0x1.6c0c86p-10f, 0x1.9a00e4p-16f};
  static constexpr float kHalfPi[] = {0x1.921fb4p+0f, 0x1.4442dp-24f, 0x1.84698ap-48f};
  static constexpr float kMagic = 0x1.8p23f;
};
template <>
struct TrigConstants<double> {
  static constexpr double kSin[] = {-0x1.5555555555549p-3, 0x1.111111110f871p-7,   -0x1.a01a019c10106p-13,
                                    0x1.71de357606806p-19, -0x1.ae5e64a622a5ep-26, 0x1.5d927a88d4cf4p-33};
  static constexpr double kCos[] = {0x1.555555555554cp-5,   -0x1.6c16c16c1516bp-10, 0x1.a01a019cafb4cp-16,
                                    -0x1.27e4f80855efcp-22, 0x1.1ee9eabd135a4p-29,  -0x1.8fadf72ff8927p-37};
  static constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c06p-54, 0x1.c1cd129024e09p-107};
  static constexpr double kMagic = 0x1.8p52;
};

// x = k pi/2 + r, |r| <= pi/4; `quadrant` holds k in its low bits.
template <class T>
struct Reduced {
  Vec<T> r;
  typename Vec<T>::Bits quadrant;
};

__extension__ typedef unsigned __int128 Wide;

// pi/2 fraction / 2^128, rounded once or so.
inline double half_pi_times(Wide fraction) {
  const uint64_t top = static_cast<uint64_t>(fraction >> 64) & ~uint64_t{0x7ff};
  const double f = static_cast<double>(top) * 0x1p-64;
  const double f_low = static_cast<double>(fraction - (Wide(top) << 64)) * 0x1p-128;
  const double half_pi = 0x1.921fb54442d18p+0, r = f * half_pi;
  return r + (__builtin_fma(f, half_pi, -r) + f * 0x1.1a62633145c07p-54 + f_low * half_pi);
}

// For |x| too large to subtract k pi/2: multiplies the mantissa by the bits of 2/pi that matter. One number.
inline double reduce_huge(double x, int& quadrant) {
  static constexpr uint64_t two_over_pi[] = {
      0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u,
      0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u,
      0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
      0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu, 0xf0cfbc209af4361du};
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0x7ff) return x - x;
  const uint64_t mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
  // Bits of 2/pi before position shift - 2 only add multiples of 4 to mantissa 2^shift 2/pi.
  const int shift = exponent - 1075, first = shift > 2 ? shift - 2 : 0, word = first / 64, bit = first % 64;
  const auto window = [&](int i) {
    const uint64_t high = two_over_pi[word + i] << bit;
    return bit == 0 ? high : high | two_over_pi[word + i + 1] >> (64 - bit);
  };
  const Wide p0 = Wide(mantissa) * window(0), p1 = Wide(mantissa) * window(1), p2 = Wide(mantissa) * window(2);
  const Wide product_low = p2 + (p1 << 64), product_high = p0 + (p1 >> 64) + (product_low < p2);
  const int point = 64 - (shift - first);  // the product's binary point lies 128 bits above this one
  Wide fraction = (product_low >> point) | (product_high << (128 - point));
  const bool negative = (fraction >> 127) != 0;  // to nearest: the remainder lies in [-1/2, 1/2)
  if (negative) fraction = -fraction;
  quadrant = static_cast<int>(product_high >> point & 3) + negative;
  if (x < 0) quadrant = -quadrant;
  const double r = half_pi_times(fraction);
  return negative != (x < 0) ? -r : r;
}

template <class T>
Reduced<T> reduce_half_pi(Vec<T> x) {
  using C = TrigConstants<T>;
  const Vec<T> k = round(x * Vec<T>(0x1.45f306dc9c883p-1));
  Vec<T> r = fma(k, Vec<T>(-C::kHalfPi[0]), x);
  r = fma(k, Vec<T>(-C::kHalfPi[1]), r);
  r = fma(k, Vec<T>(-C::kHalfPi[2]), r);
  Reduced<T> result{r, (k + Vec<T>(C::kMagic)).bits()};
  const auto huge = !(abs(x) <= Vec<T>(0x1p20));
  if (any(huge)) [[unlikely]] {
    for (int i = 0; i < Vec<T>::kLanes; ++i) {
      if (!huge.bits[i]) continue;
      int quadrant = 0;
      result.r.v[i] = static_cast<T>(reduce_huge(x.v[i], quadrant));
      result.quadrant[i] = quadrant;
    }
  }
  return result;
}

template <class T>
Vec<T> sin_of_quadrant(Vec<T> r, typename Vec<T>::Bits quadrant) {
  using C = TrigConstants<T>;
  const Vec<T> z = r * r, half = Vec<T>(0.5) * z, one(1), w = one - half;
  const Vec<T> s = fma(r * z, polynomial(z, C::kSin), r);
  const Vec<T> c = w + fma(z * z, polynomial(z, C::kCos), (one - w) - half);
  const Mask<T> odd{(quadrant & 1) != 0};
  const Mask<T> negative{(quadrant & 2) != 0};
  const Vec<T> y = select(odd, c, s);
  return select(negative, -y, y);
}

template <class T>
Vec<T> sin(Vec<T> x) {
  const Reduced<T> p = reduce_half_pi(x);
  return select(x == Vec<T>(0), x, sin_of_quadrant(p.r, p.quadrant));
}
template <class T>
Vec<T> cos(Vec<T> x) {
  const Reduced<T> p = reduce_half_pi(x);
  return sin_of_quadrant(p.r, p.quadrant + 1);
}

}  // namespace martello::cpu::MARTELLO_ISA
