#pragma once
#include <martello/kernel/cpu/vec_isa.h>

// The best element of each lane and where it is. NaN is larger than every number; of equals the first stays.
namespace martello::cpu::MARTELLO_ISA {
namespace {

template <class T>
struct Largest {
  static Mask<T> beats(Vec<T> a, Vec<T> b) { return (b == b) & !(a <= b); }
  static bool beats(T a, T b) { return b == b && !(a <= b); }
};
template <class T>
struct Smallest {
  static Mask<T> beats(Vec<T> a, Vec<T> b) { return (a == a) & !(a >= b); }
  static bool beats(T a, T b) { return a == a && !(a >= b); }
};

#if MARTELLO_VEC_BYTES == 64
// The same in mask registers: one compare after the other instead of vectors of bits.
inline __mmask16 beats_mask(Largest<float>, Vec<float> a, Vec<float> b) {
  return _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(b.v, b.v, _CMP_ORD_Q), a.v, b.v, _CMP_NLE_UQ);
}
inline __mmask16 beats_mask(Smallest<float>, Vec<float> a, Vec<float> b) {
  return _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a.v, a.v, _CMP_ORD_Q), a.v, b.v, _CMP_NGE_UQ);
}
inline __mmask8 beats_mask(Largest<double>, Vec<double> a, Vec<double> b) {
  return _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(b.v, b.v, _CMP_ORD_Q), a.v, b.v, _CMP_NLE_UQ);
}
inline __mmask8 beats_mask(Smallest<double>, Vec<double> a, Vec<double> b) {
  return _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(a.v, a.v, _CMP_ORD_Q), a.v, b.v, _CMP_NGE_UQ);
}
inline Vec<float> chosen(__mmask16 m, Vec<float> yes, Vec<float> no) { return _mm512_mask_mov_ps(no.v, m, yes.v); }
inline Vec<double> chosen(__mmask8 m, Vec<double> yes, Vec<double> no) { return _mm512_mask_mov_pd(no.v, m, yes.v); }
#endif

// Places are numbers as wide as the elements.
template <class T, class Rank>
struct BestLanes {
  using Bits = typename Vec<T>::Bits;
  Vec<T> value;
  Bits at;
  void meet(Vec<T> v, Bits place) {
#if MARTELLO_VEC_BYTES == 64
    const auto is_better = beats_mask(Rank(), v, value);
    value = chosen(is_better, v, value);
    at = chosen(is_better, Vec<T>::from_bits(place), Vec<T>::from_bits(at)).bits();
#else
    const Mask<T> is_better = Rank::beats(v, value);
    value = select(is_better, v, value);
    at = is_better.bits ? place : at;
#endif
  }
  // The other may come before this one.
  void meet(const BestLanes& o) {
    const Mask<T> wins = Rank::beats(o.value, value), loses = Rank::beats(value, o.value);
    const Mask<T> is_better = wins | (Mask<T>{o.at < at} & !loses);
    value = select(is_better, o.value, value);
    at = is_better.bits ? o.at : at;
  }
};

// The same number in all lanes.
template <class T>
inline typename Vec<T>::Bits same_bits(int64_t number) {
  using Bits = typename Vec<T>::Bits;
  return Bits{} + static_cast<decltype(Bits{}[0] + 0)>(number);
}

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
