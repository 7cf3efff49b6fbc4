#pragma once
#include <martello/kernel/cpu/vec_memory_isa.h>

// Numbers of f32 as bf16, for ISA sources.
namespace martello::cpu::MARTELLO_ISA {

typedef uint16_t Bf16s __attribute__((vector_size(MARTELLO_VEC_BYTES / 2)));

// To nearest, ties to even; NaN stays NaN, whatever its bits.
inline Bf16s to_bf16(Vec<float> x) {
  using Unsigned = VecTypes<float>::Unsigned;
  const Unsigned bits = Unsigned(x.v), top = bits >> 16;
  const Unsigned rounded = (bits + 0x7fff + (top & 1)) >> 16;
  const Unsigned is_nan = Unsigned((bits & 0x7fffffff) > 0x7f800000);
  return __builtin_convertvector(((top | 0x40) & is_nan) | (rounded & ~is_nan), Bf16s);
}

// The first n lanes, or all.
inline void store_bf16(uint16_t* p, int64_t n, Bf16s x) { memcpy(p, &x, static_cast<size_t>(n) * sizeof(uint16_t)); }
inline void store_bf16(uint16_t* p, Bf16s x) { memcpy(p, &x, sizeof x); }

// Past the caches; `p` must be aligned to the vector.
inline void stream_bf16(uint16_t* p, Bf16s x) {
#if MARTELLO_VEC_BYTES == 64
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), __m256i(x));
#elif MARTELLO_VEC_BYTES == 32
  _mm_stream_si128(reinterpret_cast<__m128i*>(p), __m128i(x));
#else
  store_bf16(p, x);
#endif
}
inline bool can_stream_bf16(const uint16_t* p) { return reinterpret_cast<uintptr_t>(p) % sizeof(Bf16s) == 0; }

}  // namespace martello::cpu::MARTELLO_ISA
