#include <martello/ops/internal/best_lanes_isa.h>
#include <martello/ops/internal/channel_isa.h>
#include <martello/ops/internal/pool_lanes_isa.h>
#include <martello/ops/internal/pool_window.h>

// Images with channels innermost. Channels do not meet, so that the width of a
// vector changes no bit.
namespace martello::cpu::MARTELLO_ISA {
namespace {

// In place of indices that nobody reads.
struct NoIndices {
  NoIndices operator+(int64_t) const { return {}; }
};
template <class T>
inline void store_indices(NoIndices, int64_t, typename Vec<T>::Bits) {}

// `Indices` points to them, or is NoIndices.
template <class T, class Indices>
void max_pixel(const T* x, T* y, Indices index, const PoolImage& p, Range h, Range w, int64_t oh, int64_t ow) {
  const auto here = [&](int64_t i, int64_t j) {
    return same_bits<T>(place(p.h, i, oh) * p.w.size + place(p.w, j, ow));
  };
  for_channels<T>(p.channels, [&](auto stretch, int64_t c, int64_t given) {
    constexpr int N = decltype(stretch)::kVectors, w_lanes = Vec<T>::kLanes;
    const int64_t lanes = decltype(stretch)::template lanes<T>(given);
    const auto from = [&](int64_t i, int64_t j) { return x + (i * p.w.in + j) * p.channels + c; };
    BestLanes<T, Largest<T>> best[N];
    const T* first = from(h.begin, w.begin);
    for (int k = 0; k < N; ++k) best[k] = {load(first + k * w_lanes, lanes), here(h.begin, w.begin)};
    for (int64_t i = h.begin; i < h.end; ++i)
      for (int64_t j = w.begin; j < w.end; ++j)
        for (int k = 0; k < N; ++k) best[k].meet(load(from(i, j) + k * w_lanes, lanes), here(i, j));
    for (int k = 0; k < N; ++k) {
      store(y + c + k * w_lanes, lanes, best[k].value);
      store_indices<T>(index + c + k * w_lanes, lanes, best[k].at);
    }
  });
}
// The same for a window of H x W that lies within the image.
template <int H, int W, class T, class Indices>
inline void max_whole_pixel(const T* x, T* y, Indices index, const PoolImage& p) {
  for_channels<T>(p.channels, [&](auto stretch, int64_t c, int64_t given) {
    constexpr int N = decltype(stretch)::kVectors, w_lanes = Vec<T>::kLanes;
    const int64_t lanes = decltype(stretch)::template lanes<T>(given);
    BestLanes<T, Largest<T>> best[N];
    for (int k = 0; k < N; ++k) best[k] = {load(x + c + k * w_lanes, lanes), same_bits<T>(0)};
    for (int at = 1; at < H * W; ++at) {
      const T* from = x + (at / W * p.w.in + at % W) * p.channels + c;
      for (int k = 0; k < N; ++k) best[k].meet(load(from + k * w_lanes, lanes), same_bits<T>(at));
    }
    for (int k = 0; k < N; ++k) {
      store(y + c + k * w_lanes, lanes, best[k].value);
      store_indices<T>(index + c + k * w_lanes, lanes, best[k].at);
    }
  });
}
// Windows of H x W, or of any size for 0 x 0.
template <int H, int W, class T, class Indices>
void max_row_of(const T* x, T* y, Indices index, const PoolImage& p, int64_t oh) {
  const Range h = window(p.h, oh);
  const int64_t row = oh * p.w.out * p.channels;
  for (int64_t ow = 0; ow < p.w.out; ++ow) {
    const int64_t at = row + ow * p.channels;
    const Range w = window(p.w, ow);
    if constexpr (H > 0) {
      if (h.end - h.begin == H && w.end - w.begin == W) {
        max_whole_pixel<H, W>(x + (h.begin * p.w.in + w.begin) * p.channels, y + at, index + at, p);
        continue;
      }
    }
    max_pixel(x, y + at, index + at, p, h, w, oh, ow);
  }
}
template <class T, class Indices>
void max_row(const T* x, T* y, Indices index, const PoolImage& p, int64_t oh) {
  if (p.h.size == 2 && p.w.size == 2) max_row_of<2, 2>(x, y, index, p, oh);
  else if (p.h.size == 3 && p.w.size == 3) max_row_of<3, 3>(x, y, index, p, oh);
  else max_row_of<0, 0>(x, y, index, p, oh);
}

void largest_rows(const float* x, float* y, const PoolImage& image) {
  for (int64_t row = 0; row < image.h.out; ++row) max_row(x, y, NoIndices(), image, row);
}

// y = x where the index says so.
template <class T, class Index>
void take_row(const T* x, T* y, const Index* index, const PoolImage& p, int64_t oh) {
  const Range h = window(p.h, oh);
  for (int64_t ow = 0; ow < p.w.out; ++ow) {
    const Range w = window(p.w, ow);
    const int64_t at = (oh * p.w.out + ow) * p.channels;
    for_vectors<T>(p.channels, [&](int64_t c, int64_t lanes) {
      const auto chosen = load_indices<T>(index + at + c, lanes);
      Vec<T> v(0);
      for (int64_t i = h.begin; i < h.end; ++i)
        for (int64_t j = w.begin; j < w.end; ++j) {
          const auto here = same_bits<T>(place(p.h, i, oh) * p.w.size + place(p.w, j, ow));
          v = select(Mask<T>{chosen == here}, load(x + (i * p.w.in + j) * p.channels + c, lanes), v);
        }
      store(y + at + c, lanes, v);
    });
  }
}

// dx of row i: for each input, the sum of gradient(oh, ow, channel, lanes) over
// the outputs that cover it, and 0 where none does. Each input gathers: no two
// threads write to one place, sums have one order and stay in registers. Which
// columns cover is counted on, not divided for.
template <class T, class Gradient>
inline void gather_row(T* dx, const PoolImage& p, int64_t i, bool streaming, Gradient gradient) {
  constexpr int64_t w_lanes = Vec<T>::kLanes;
  const Range h = covering(p.h, i);
  Range w = {0, 0};
  for (int64_t j = 0; j < p.w.in; ++j) {
    T* to = dx + (i * p.w.in + j) * p.channels;
    while (w.end < p.w.out && w.end * p.w.stride - p.w.before <= j) ++w.end;
    while (w.begin < p.w.out && w.begin * p.w.stride - p.w.before + p.w.size <= j) ++w.begin;
    for_channels<T>(p.channels, [&](auto stretch, int64_t c, int64_t given) {
      constexpr int N = decltype(stretch)::kVectors;
      const int64_t lanes = decltype(stretch)::template lanes<T>(given);
      Vec<T> sums[N];
      for (Vec<T>& sum : sums) sum = h.begin < h.end && w.begin < w.end ? Vec<T>(-0.0) : Vec<T>(0);
      for (int64_t oh = h.begin; oh < h.end; ++oh)
        for (int64_t ow = w.begin; ow < w.end; ++ow)
          for (int k = 0; k < N; ++k) sums[k] = sums[k] + gradient(j, oh, ow, c + k * w_lanes, lanes);
      for (int k = 0; k < N; ++k) {
        if (streaming) stream(to + c + k * w_lanes, sums[k]);
        else store(to + c + k * w_lanes, lanes, sums[k]);
      }
    });
  }
  if (streaming) _mm_sfence();
}
template <class T>
inline bool can_stream(const T* dx, const PoolImage& p) {
  return is_vector_aligned(dx) && p.channels % Vec<T>::kLanes == 0;
}

inline bool is_apart(const PoolImage& p) { return p.h.size == p.h.stride && p.w.size == p.w.stride; }

// The same where windows do not meet: outputs go to their inputs, so that each is looked at once. outgoing(oh, ow,
// channel, lanes) is a function of the column.
template <class T, class Outgoing>
inline void spread_row(T* dx, const PoolImage& p, int64_t i, bool streaming, Outgoing outgoing) {
  constexpr int64_t w_lanes = Vec<T>::kLanes, kAheadBytes = 1024;
  const Range h = covering(p.h, i);
  T* to = dx + i * p.w.in * p.channels;
  const auto put = [&](int64_t at, int64_t lanes, Vec<T> v) {
    if (streaming) return stream(to + at, v);
    // Lines that are not in the cache arrive before they are written to.
    _mm_prefetch(reinterpret_cast<const char*>(to + at) + kAheadBytes, _MM_HINT_T0);
    store(to + at, lanes, v);
  };
  int64_t done = 0;
  for (int64_t ow = 0; h.begin < h.end && ow < p.w.out; ++ow) {
    const Range w = window(p.w, ow);
    for_channels<T>(p.channels, [&](auto stretch, int64_t c, int64_t given) {
      const int64_t lanes = decltype(stretch)::template lanes<T>(given);
      for (int64_t k = c; k < c + decltype(stretch)::kVectors * w_lanes; k += w_lanes) {
        const auto value = outgoing(h.begin, ow, k, lanes);
        for (int64_t j = w.begin; j < w.end; ++j) put(j * p.channels + k, lanes, value(j));
      }
    });
    done = w.end;
  }
  for_vectors<T>((p.w.in - done) * p.channels,
                 [&](int64_t k, int64_t lanes) { put(done * p.channels + k, lanes, Vec<T>(0)); });
  if (streaming) _mm_sfence();
}

template <class T, class Index>
void max_grad_row(const T* dy, const Index* index, T* dx, const PoolImage& p, int64_t i, bool may_stream) {
  const bool streaming = may_stream && can_stream(dx, p);
  const auto place_of = [&](int64_t j, int64_t oh, int64_t ow) {
    return place(p.h, i, oh) * p.w.size + place(p.w, j, ow);
  };
  const auto outgoing = [&](int64_t oh, int64_t ow, int64_t c, int64_t lanes) {
    const int64_t at = (oh * p.w.out + ow) * p.channels + c;
    return [=, indices = IndexLanes<T, Index>(index + at, lanes), v = load(dy + at, lanes)](int64_t j) {
      return indices.where(place_of(j, oh, ow), v);
    };
  };
  if (is_apart(p)) return spread_row(dx, p, i, streaming, outgoing);
  gather_row(dx, p, i, streaming, [&](int64_t j, int64_t oh, int64_t ow, int64_t c, int64_t lanes) {
    return outgoing(oh, ow, c, lanes)(j);
  });
}

template <class T>
inline Vec<T> inverse_count(Range h, Range w) {
  return Vec<T>(T{1} / static_cast<T>((h.end - h.begin) * (w.end - w.begin)));
}

// sums += a window of H x W, or of h x w for 0 x 0, of N vectors of channels.
template <int H, int W, int N, class T>
inline void add_window(const T* x, const PoolImage& p, int64_t h, int64_t w, int64_t lanes, Vec<T>* sums) {
  for (int64_t i = 0; i < (H ? H : h); ++i)
    for (int64_t j = 0; j < (W ? W : w); ++j)
      for (int k = 0; k < N; ++k)
        sums[k] = sums[k] + load(x + (i * p.w.in + j) * p.channels + k * Vec<T>::kLanes, lanes);
}

template <class T>
void mean_row(const T* x, T* y, const PoolImage& p, int64_t oh) {
  const Range h = window(p.h, oh);
  y += oh * p.w.out * p.channels;
  for (int64_t ow = 0; ow < p.w.out; ++ow, y += p.channels) {
    const Range w = window(p.w, ow);
    const int64_t height = h.end - h.begin, width = w.end - w.begin;
    const T* from = x + (h.begin * p.w.in + w.begin) * p.channels;
    const Vec<T> factor = inverse_count<T>(h, w);
    for_channels<T>(p.channels, [&](auto stretch, int64_t c, int64_t given) {
      constexpr int N = decltype(stretch)::kVectors;
      const int64_t lanes = decltype(stretch)::template lanes<T>(given);
      Vec<T> sums[N];
      for (Vec<T>& sum : sums) sum = Vec<T>(0);
      if (height == 2 && width == 2) add_window<2, 2, N>(from + c, p, height, width, lanes, sums);
      else add_window<0, 0, N>(from + c, p, height, width, lanes, sums);
      for (int k = 0; k < N; ++k) store(y + c + k * Vec<T>::kLanes, lanes, sums[k] * factor);
    });
  }
}
template <class T>
void mean_grad_row(const T* dy, T* dx, const PoolImage& p, int64_t i, bool may_stream) {
  const bool streaming = may_stream && can_stream(dx, p);
  const auto gradient = [&](int64_t oh, int64_t ow, int64_t c, int64_t lanes) {
    const Vec<T> factor = inverse_count<T>(window(p.h, oh), window(p.w, ow));
    return load(dy + (oh * p.w.out + ow) * p.channels + c, lanes) * factor;
  };
  if (is_apart(p))
    return spread_row(dx, p, i, streaming, [&](int64_t oh, int64_t ow, int64_t c, int64_t lanes) {
      return [v = gradient(oh, ow, c, lanes)](int64_t) { return v; };
    });
  gather_row(dx, p, i, streaming,
             [&](int64_t, int64_t oh, int64_t ow, int64_t c, int64_t lanes) { return gradient(oh, ow, c, lanes); });
}

}  // namespace

#define MARTELLO_POOL(T, Index) \
  { max_row<T, Index*>, take_row<T, Index>, max_grad_row<T, Index> }
constexpr PoolLoops<float, uint8_t> pool_loops_f32_u8 = MARTELLO_POOL(float, uint8_t);
constexpr PoolLoops<float, int32_t> pool_loops_f32_i32 = MARTELLO_POOL(float, int32_t);
constexpr PoolLoops<double, uint8_t> pool_loops_f64_u8 = MARTELLO_POOL(double, uint8_t);
constexpr PoolLoops<double, int32_t> pool_loops_f64_i32 = MARTELLO_POOL(double, int32_t);
#undef MARTELLO_POOL
constexpr LargestRows largest_rows_f32 = largest_rows;
constexpr AvgPoolLoops<float> avg_pool_loops_f32 = {mean_row<float>, mean_grad_row<float>};
constexpr AvgPoolLoops<double> avg_pool_loops_f64 = {mean_row<double>, mean_grad_row<double>};

}  // namespace martello::cpu::MARTELLO_ISA
