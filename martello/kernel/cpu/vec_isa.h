#pragma once
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

// One native vector register of float or double, for ISA sources (compiled three times, into a namespace each). Every
// operation is exact or correctly rounded, so that the bits are the same on all levels. Only C headers may be included
// here: an inline function shared with other sources could be emitted once, for the wrong level.
#ifndef MARTELLO_ISA
#error "an ISA source: list it under ISA_SRCS"
#endif

#if defined(__AVX512F__)
#define MARTELLO_VEC_BYTES 64
#define MARTELLO_MM(name) _mm512_##name
// Masked forms, with all lanes: GCC 12 warns of the plain ones' undefined sources.
#define MARTELLO_MM_ROUND(suffix, x, mode) _mm512_maskz_roundscale_##suffix(MARTELLO_ALL_##suffix, x, mode)
#define MARTELLO_MM_SQRT(suffix, x) _mm512_maskz_sqrt_##suffix(MARTELLO_ALL_##suffix, x)
#define MARTELLO_ALL_ps 0xffff
#define MARTELLO_ALL_pd 0xff
#elif defined(__AVX2__)
#define MARTELLO_VEC_BYTES 32
#define MARTELLO_MM(name) _mm256_##name
#define MARTELLO_MM_ROUND(suffix, x, mode) _mm256_round_##suffix(x, mode)
#define MARTELLO_MM_SQRT(suffix, x) _mm256_sqrt_##suffix(x)
#else
#define MARTELLO_VEC_BYTES 16
#define MARTELLO_MM(name) _mm_##name
#define MARTELLO_MM_ROUND(suffix, x, mode) _mm_round_##suffix(x, mode)
#define MARTELLO_MM_SQRT(suffix, x) _mm_sqrt_##suffix(x)
#endif

namespace martello::cpu::MARTELLO_ISA {

inline constexpr int kVecBytes = MARTELLO_VEC_BYTES;

template <class T>
struct VecTypes;
template <>
struct VecTypes<float> {
  typedef float Native __attribute__((vector_size(MARTELLO_VEC_BYTES)));
  typedef int32_t Bits __attribute__((vector_size(MARTELLO_VEC_BYTES)));
  typedef uint32_t Unsigned __attribute__((vector_size(MARTELLO_VEC_BYTES)));
};
template <>
struct VecTypes<double> {
  typedef double Native __attribute__((vector_size(MARTELLO_VEC_BYTES)));
  typedef int64_t Bits __attribute__((vector_size(MARTELLO_VEC_BYTES)));
  typedef uint64_t Unsigned __attribute__((vector_size(MARTELLO_VEC_BYTES)));
};

// Lanes that are all ones (true) or all zeros.
template <class T>
struct Mask {
  typename VecTypes<T>::Bits bits;
  friend Mask operator&(Mask a, Mask b) { return {a.bits & b.bits}; }
  friend Mask operator|(Mask a, Mask b) { return {a.bits | b.bits}; }
  friend Mask operator!(Mask a) { return {~a.bits}; }
};

template <class T>
struct Vec {
  using Native = typename VecTypes<T>::Native;
  using Bits = typename VecTypes<T>::Bits;
  static constexpr int kLanes = kVecBytes / static_cast<int>(sizeof(T));
  Native v;

  Vec() = default;
  Vec(Native native) : v(native) {}
  explicit Vec(double number) : v(static_cast<T>(number) - Native{}) {}  // keeps -0

  static Vec load(const T* p) {
    Vec r;
    memcpy(&r.v, p, sizeof r.v);
    return r;
  }
  void store(T* p) const { memcpy(p, &v, sizeof v); }
  static Vec from_bits(Bits bits) { return Native(bits); }
  Bits bits() const { return Bits(v); }

  friend Vec operator+(Vec a, Vec b) { return a.v + b.v; }
  friend Vec operator-(Vec a, Vec b) { return a.v - b.v; }
  friend Vec operator*(Vec a, Vec b) { return a.v * b.v; }
  friend Vec operator/(Vec a, Vec b) { return a.v / b.v; }
  friend Vec operator-(Vec a) { return -a.v; }
  friend Mask<T> operator<(Vec a, Vec b) { return {a.v < b.v}; }
  friend Mask<T> operator<=(Vec a, Vec b) { return {a.v <= b.v}; }
  friend Mask<T> operator>(Vec a, Vec b) { return {a.v > b.v}; }
  friend Mask<T> operator>=(Vec a, Vec b) { return {a.v >= b.v}; }
  friend Mask<T> operator==(Vec a, Vec b) { return {a.v == b.v}; }
  friend Mask<T> operator!=(Vec a, Vec b) { return {a.v != b.v}; }
};

}  // namespace martello::cpu::MARTELLO_ISA

#include <martello/kernel/cpu/vec_functions_isa.h>
