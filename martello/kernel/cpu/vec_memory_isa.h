#pragma once
#include <martello/kernel/cpu/vec_isa.h>

// Loads and stores that are not plain.
namespace martello::cpu::MARTELLO_ISA {

// Past the caches; `p` must be aligned to the vector.
inline void stream(float* p, Vec<float> x) { MARTELLO_MM(stream_ps)(p, x.v); }
inline void stream(double* p, Vec<double> x) { MARTELLO_MM(stream_pd)(p, x.v); }

// The first n lanes from memory (0 < n < lanes), the others from `fill`; reads nothing beyond them.
inline Vec<float> load_first(const float* p, int64_t n, Vec<float> fill) {
#if MARTELLO_VEC_BYTES == 64
  return _mm512_mask_loadu_ps(fill.v, static_cast<__mmask16>((1u << n) - 1), p);
#elif MARTELLO_VEC_BYTES == 32
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lane);
  return _mm256_blendv_ps(fill.v, _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
#else
  memcpy(&fill.v, p, static_cast<size_t>(n) * sizeof(float));
  return fill;
#endif
}
inline Vec<double> load_first(const double* p, int64_t n, Vec<double> fill) {
#if MARTELLO_VEC_BYTES == 64
  return _mm512_mask_loadu_pd(fill.v, static_cast<__mmask8>((1u << n) - 1), p);
#elif MARTELLO_VEC_BYTES == 32
  const __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
  return _mm256_blendv_pd(fill.v, _mm256_maskload_pd(p, mask), _mm256_castsi256_pd(mask));
#else
  memcpy(&fill.v, p, static_cast<size_t>(n) * sizeof(double));
  return fill;
#endif
}
// The first n lanes (0 < n < lanes) to memory.
template <class T>
void store_first(T* p, int64_t n, Vec<T> x) {
#if MARTELLO_VEC_BYTES == 64
  if constexpr (sizeof(T) == 4) _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), x.v);
  else _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << n) - 1), x.v);
#else
  memcpy(p, &x.v, static_cast<size_t>(n) * sizeof(T));
#endif
}

}  // namespace martello::cpu::MARTELLO_ISA
