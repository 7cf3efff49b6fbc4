#pragma once
#include <martello/ops/internal/best_lanes_isa.h>

// Which input of its window an output of max_pool is: bytes where windows are small.
namespace martello::cpu::MARTELLO_ISA {
namespace {

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

// v where the index is `here`, else 0.
template <class T, class Index>
inline Vec<T> where_index(const Index* p, int64_t lanes, int64_t here, Vec<T> v) {
  return select(Mask<T>{load_indices<T>(p, lanes) == same_bits<T>(here)}, v, Vec<T>(0));
}
#if MARTELLO_VEC_BYTES == 64
// Bytes need not be widened to be compared.
inline Vec<float> where_index(const uint8_t* p, int64_t lanes, int64_t here, Vec<float> v) {
  __m128i bytes{};
  memcpy(&bytes, p, static_cast<size_t>(lanes));
  return _mm512_maskz_mov_ps(_mm_cmpeq_epi8_mask(bytes, _mm_set1_epi8(static_cast<char>(here))), v.v);
}
inline Vec<double> where_index(const uint8_t* p, int64_t lanes, int64_t here, Vec<double> v) {
  __m128i bytes{};
  memcpy(&bytes, p, static_cast<size_t>(lanes));
  const __mmask16 same = _mm_cmpeq_epi8_mask(bytes, _mm_set1_epi8(static_cast<char>(here)));
  return _mm512_maskz_mov_pd(static_cast<__mmask8>(same), v.v);
}
#endif

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
