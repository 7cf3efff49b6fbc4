#include <martello/kernel/cpu/vec_isa.h>
#include <martello/kernel/cpu/vec_memory_isa.h>
#include <martello/ops/internal/direct_conv_loops.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

using V = Vec<float>;
constexpr int64_t kLanes = V::kLanes;

#if defined(__clang__)
#define MARTELLO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MARTELLO_UNROLL _Pragma("GCC unroll 8")
#endif

// Channels [first, first + lanes) of N vectors; only one vector may be a part.
template <int N>
struct Whole {
  static constexpr int kVectors = N;
  static V load(const float* p) { return V::load(p); }
  static void store(float* p, V v) { v.store(p); }
};
struct Part {
  static constexpr int kVectors = 1;
  int64_t lanes;
  V load(const float* p) const { return load_first(p, lanes, V(0)); }
  void store(float* p, V v) const { store_first(p, lanes, v); }
};

// A `step` between windows that the compiler knows, or else 0.
template <int kStep>
inline int64_t step_of(const DirectRow& r) {
  return kStep > 0 ? kStep : r.step;
}

// NaN stays, and the sum makes 0 of -0, as max() does in more steps.
inline V relu_of(V v) { return V(MARTELLO_MM(max_ps)(V(0).v, v.v)) + V(0); }

// B windows from `x` on.
template <int B, int kStep, class Channels>
[[gnu::always_inline]] inline void convolve(const DirectRow& r, Channels c, const float* x, const float* kernel,
                                            const float* bias, float* y) {
  constexpr int N = Channels::kVectors;
  const int64_t step = step_of<kStep>(r), channels = r.channels, taps = r.taps;
  const int64_t* places = r.places;
  const bool relu = r.relu;
  V sums[B][N];
  MARTELLO_UNROLL
  for (int b = 0; b < B; ++b) MARTELLO_UNROLL
  for (int n = 0; n < N; ++n) sums[b][n] = V(0);
  for (int64_t t = 0; t < taps; ++t, kernel += channels) {
    const float* pixels = x + places[t];
    V tap[N];
    MARTELLO_UNROLL
    for (int n = 0; n < N; ++n) tap[n] = c.load(kernel + n * kLanes);
    MARTELLO_UNROLL
    for (int b = 0; b < B; ++b) {
      const V pixel(pixels[b * step]);
      MARTELLO_UNROLL
      for (int n = 0; n < N; ++n) sums[b][n] = fma(pixel, tap[n], sums[b][n]);
    }
  }
  MARTELLO_UNROLL
  for (int n = 0; n < N; ++n) {
    const V shift = bias ? c.load(bias + n * kLanes) : V(0);
    MARTELLO_UNROLL
    for (int b = 0; b < B; ++b) {
      V v = sums[b][n];
      if (bias) v = v + shift;
      if (relu) v = relu_of(v);
      c.store(y + b * channels + n * kLanes, v);
    }
  }
}

template <int B, int kStep, class Channels>
void convolve_channels(const DirectRow& r, Channels c, int64_t first, const float* x, float* y) {
  convolve<B, kStep>(r, c, x, r.kernel + first, r.bias ? r.bias + first : nullptr, y + first);
}

template <int B, int kStep>
inline void convolve_block(const DirectRow& r, const float* x, float* y) {
  constexpr int kMost = MARTELLO_VEC_BYTES == 64 ? 2 : 1;  // vectors that registers hold beside a block
  int64_t c = 0;
  for (; c + kMost * kLanes <= r.channels; c += kMost * kLanes) convolve_channels<B, kStep>(r, Whole<kMost>(), c, x, y);
  if (kMost > 1 && c + kLanes <= r.channels) {
    convolve_channels<B, kStep>(r, Whole<1>(), c, x, y);
    c += kLanes;
  }
  if (c < r.channels) convolve_channels<B, kStep>(r, Part{r.channels - c}, c, x, y);
}

// The last block may begin within the one before.
template <int B, int kStep>
void convolve_row(const DirectRow& r, const float* x, float* y) {
  for (int64_t first = 0; first < r.columns; first += B) {
    const int64_t at = first + B <= r.columns ? first : r.columns - B;
    convolve_block<B, kStep>(r, x + at * step_of<kStep>(r), y + at * r.channels);
  }
}

template <int B>
void for_step(const DirectRow& r, const float* x, float* y) {
  switch (r.step) {
    case 1: return convolve_row<B, 1>(r, x, y);
    case 3: return convolve_row<B, 3>(r, x, y);
    default: return convolve_row<B, 0>(r, x, y);
  }
}

void row(const DirectRow& r, const float* x, float* y) {
  switch (r.block) {
    case 8: return for_step<8>(r, x, y);
    case 7: return for_step<7>(r, x, y);
    case 6: return for_step<6>(r, x, y);
    case 4: return for_step<4>(r, x, y);
    case 2: return for_step<2>(r, x, y);
    default: return for_step<1>(r, x, y);
  }
}

}  // namespace

extern const DirectConvLoops direct_conv_loops = {row};

}  // namespace martello::cpu::MARTELLO_ISA
