#pragma once
#include <martello/ops/internal/best_lanes_isa.h>

// Stretches of channels, and which input of its window an output of max_pool is.
namespace martello::cpu::MARTELLO_ISA {
namespace {

// Calls f(stretch, first channel, lanes) for stretches of channels; `lanes` is
// known to the compiler when they are whole.
template <int N, bool whole>
struct Stretch {
  static constexpr int kVectors = N;
  template <class T>
  static int64_t lanes(int64_t given) {
    return whole ? Vec<T>::kLanes : given;
  }
};
template <class T, class F>
inline void for_channels(int64_t n, F f) {
  constexpr int64_t w = Vec<T>::kLanes;
  int64_t i = 0;
  for (; i + 4 * w <= n; i += 4 * w) f(Stretch<4, true>(), i, w);
  for (; i + 2 * w <= n; i += 2 * w) f(Stretch<2, true>(), i, w);
  for (; i + w <= n; i += w) f(Stretch<1, true>(), i, w);
  if (i < n) f(Stretch<1, false>(), i, n - i);
}

// Indices as wide as the elements they belong to.
inline Vec<float>::Bits widened(const uint8_t* p, float) {
  __m128i bytes{};
  memcpy(&bytes, p, Vec<float>::kLanes);
  return reinterpret_cast<Vec<float>::Bits>(MARTELLO_MM(cvtepu8_epi32)(bytes));
}
inline Vec<double>::Bits widened(const uint8_t* p, double) {
  __m128i bytes{};
  memcpy(&bytes, p, Vec<double>::kLanes);
  return reinterpret_cast<Vec<double>::Bits>(MARTELLO_MM(cvtepu8_epi64)(bytes));
}
template <class T>
inline typename Vec<T>::Bits widened(const int32_t* p, T) {
  typename Vec<T>::Bits bits;
  for (int i = 0; i < Vec<T>::kLanes; ++i) bits[i] = p[i];
  return bits;
}
template <class T, class Index>
inline typename Vec<T>::Bits load_indices(const Index* p, int64_t lanes) {
  if (lanes == Vec<T>::kLanes) return widened(p, T{});
  Index all[Vec<T>::kLanes] = {};
  for (int64_t i = 0; i < lanes; ++i) all[i] = p[i];
  return widened(all, T{});
}
template <class T, class Index>
inline void store_indices(Index* p, int64_t lanes, typename Vec<T>::Bits bits) {
#if MARTELLO_VEC_BYTES == 64
  if (sizeof(T) == 4 && sizeof(Index) == 1 && lanes == Vec<T>::kLanes) {
    const __m128i bytes = _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(bits));
    memcpy(p, &bytes, sizeof bytes);
    return;
  }
#endif
  for (int64_t i = 0; i < lanes; ++i) p[i] = static_cast<Index>(bits[i]);
}

// Indices of neighbouring outputs.
template <class T, class Index>
class IndexLanes {
 public:
  IndexLanes(const Index* p, int64_t lanes) : bits_(load_indices<T>(p, lanes)) {}
  // v where the index is `here`, else 0.
  Vec<T> where(int64_t here, Vec<T> v) const { return select(Mask<T>{bits_ == same_bits<T>(here)}, v, Vec<T>(0)); }

 private:
  typename Vec<T>::Bits bits_;
};
#if MARTELLO_VEC_BYTES == 64
// Bytes need not be widened to be compared.
inline Vec<float> kept_by(__mmask16 mask, Vec<float> v) { return _mm512_maskz_mov_ps(mask, v.v); }
inline Vec<double> kept_by(__mmask16 mask, Vec<double> v) {
  return _mm512_maskz_mov_pd(static_cast<__mmask8>(mask), v.v);
}
template <class T>
class IndexLanes<T, uint8_t> {
 public:
  IndexLanes(const uint8_t* p, int64_t lanes) { memcpy(&bytes_, p, static_cast<size_t>(lanes)); }
  Vec<T> where(int64_t here, Vec<T> v) const {
    return kept_by(_mm_cmpeq_epi8_mask(bytes_, _mm_set1_epi8(static_cast<char>(here))), v);
  }

 private:
  __m128i bytes_{};
};
#endif

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
