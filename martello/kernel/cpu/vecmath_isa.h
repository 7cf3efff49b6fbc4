#pragma once
#include <martello/kernel/cpu/vecmath_exp_isa.h>
#include <martello/kernel/cpu/vecmath_log_isa.h>
#include <martello/kernel/cpu/vecmath_pow_isa.h>
#include <martello/kernel/cpu/vecmath_trig_isa.h>

// All of the vector math: exp, expm1, sigmoid, tanh, log, log1p, softplus, sin, cos, pow, erf, gelu, gelu_tanh, rsqrt.
namespace martello::cpu::MARTELLO_ISA {

// kSmall: erf(x) / x - 1 as a polynomial of x^2 on |x| <= 1. kLarge: -log(erfc(x)) as one of x - 1, up to where erf
// rounds to 1.
template <class T>
struct ErfConstants;
template <>
struct ErfConstants<float> {
  static constexpr float kSmall[] = {0x1.06eba8p-3f, -0x1.81273ep-2f,  0x1.ce2d2p-4f,  -0x1.b7fbb6p-6f,
                                     0x1.5419fap-8f, -0x1.a485f8p-11f, 0x1.4ae4c6p-14f};
  static constexpr float kLarge[] = {0x1.d97fcp+0f,   0x1.51c9bp+1f,  0x1.afabbcp-1f,   0x1.547ceep-5f,
                                     -0x1.4933aep-7f, 0x1.07b61ap-9f, -0x1.2f966cp-12f, 0x1.6bd49p-16f};
  static constexpr double kEnd = 4.1;
};
template <>
struct ErfConstants<double> {
  static constexpr double kSmall[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e6p-2,  0x1.ce2f21a042b34p-4,
                                      -0x1.b82ce31284f38p-6,  0x1.565bcd0dbd921p-8,   -0x1.c02db3db49762p-11,
                                      0x1.f9a321e4b84f9p-14,  -0x1.f4d1e434bc0cfp-17, 0x1.b9df305cad6f7p-20,
                                      -0x1.5f1f40faeea79p-23, 0x1.f7b99d7c8709ap-27,  -0x1.38ac2290d3965p-30,
                                      0x1.062759c5be8ecp-34};
  static constexpr double kLarge[] = {0x1.d97fbf27aa2a1p+0,   0x1.51c9b0006c244p+1,   0x1.afabc11a2945cp-1,
                                      0x1.5477f09b8fe15p-5,   -0x1.48c9d3c36b741p-7,  0x1.033f5ff0c3b81p-9,
                                      -0x1.f1b19f9b1e83dp-13, -0x1.b913367a58a91p-16, 0x1.c8235f2f4e5e7p-16,
                                      -0x1.440a9c67401aap-17, 0x1.1c5855a5ca7c5p-19,  -0x1.a3cfa90cff7cdp-23,
                                      -0x1.0d8f66b7cc517p-24, 0x1.2dd670ff79ecep-25,  -0x1.342d8472cb97fp-27,
                                      0x1.7fc2898d113ffp-30,  -0x1.179da24a957afp-33, 0x1.6f808c35b7767p-38};
  static constexpr double kEnd = 6.1;
};

template <class T>
Vec<T> erf(Vec<T> x) {
  using C = ErfConstants<T>;
  const Vec<T> a = abs(x), end(C::kEnd);
  const Vec<T> small = fma(x, polynomial(x * x, C::kSmall), x);
  const Vec<T> t = select(a > end, end, a) - Vec<T>(1);
  const Vec<T> large = Vec<T>(1) - exp(-polynomial(t, C::kLarge));
  return select(a < Vec<T>(1), small, copysign(large, x));
}

// x times the normal distribution function, and its usual approximation. Within 2 ulp of |x|.
template <class T>
Vec<T> gelu(Vec<T> x) {
  return Vec<T>(0.5) * x * (Vec<T>(1) + erf(x * Vec<T>(0x1.6a09e667f3bcdp-1)));
}
template <class T>
Vec<T> gelu_tanh(Vec<T> x) {
  const Vec<T> u = x * fma(x * x, Vec<T>(0.044715 * 0x1.9884533d43651p-1), Vec<T>(0x1.9884533d43651p-1));
  return Vec<T>(0.5) * x * (Vec<T>(1) + tanh(u));
}

template <class T>
Vec<T> rsqrt(Vec<T> x) {
  return Vec<T>(1) / sqrt(x);
}

}  // namespace martello::cpu::MARTELLO_ISA
