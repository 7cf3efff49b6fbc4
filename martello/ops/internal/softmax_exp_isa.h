#pragma once
#include <martello/ops/internal/wide_isa.h>

// Blocks of lanes and the exp of softmax.
namespace martello::cpu::MARTELLO_ISA {
namespace {

constexpr double kMinusInf = -__builtin_inf();

// Calls f(first element, lanes) for each block of lanes of [0, n).
template <class T, class F>
void for_blocks(int64_t n, F f) {
  constexpr int64_t kLanes = kWideLanes<T>;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) f(i, kLanes);
  if (i < n) f(i, n - i);
}
template <class T>
Wide<T> load(const T* x, int64_t lanes) {
  return lanes == kWideLanes<T> ? Wide<T>::load(x) : Wide<T>::load_first(x, lanes, static_cast<T>(kMinusInf));
}
template <class T>
void store(Wide<T> y, T* to, int64_t lanes) {
  if (lanes == kWideLanes<T>) y.store(to);
  else y.store_first(to, lanes);
}

template <class T>
struct ShiftedExpConstants;
template <>
struct ShiftedExpConstants<float> {
  static constexpr double kLowest = -86, kMagic = 0x1.8p23;
  static constexpr int kBias = 127, kExponentAt = 23;
};
template <>
struct ShiftedExpConstants<double> {
  static constexpr double kLowest = -707, kMagic = 0x1.8p52;
  static constexpr int kBias = 1023, kExponentAt = 52;
};

// exp(x) for x <= 0, half the work of exp(): what would be subnormal is 0, which a sum of at least 1 does not notice.
struct ShiftedExp {
  template <class T>
  static Vec<T> of(Vec<T> x) {
    using C = ShiftedExpConstants<T>;
    using E = ExpConstants<T>;
    const Vec<T> rounded = fma(x, Vec<T>(0x1.71547652b82fep+0), Vec<T>(C::kMagic)), k = rounded - Vec<T>(C::kMagic);
    const Vec<T> r = fma(k, Vec<T>(-E::kLn2Low), fma(k, Vec<T>(-E::kLn2High), x));
    const Vec<T> y = fma(r * r, polynomial(r, E::kTail), r) + Vec<T>(1);
    const Vec<T> power = Vec<T>::from_bits((rounded.bits() + C::kBias) << C::kExponentAt);
    return select(x < Vec<T>(C::kLowest), Vec<T>(0), y * power);
  }
};
struct FullExp {
  template <class T>
  static Vec<T> of(Vec<T> x) {
    return exp(x);
  }
};

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
