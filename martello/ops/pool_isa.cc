#include <martello/ops/internal/channel_isa.h>
#include <martello/ops/internal/pool_window.h>

// Images with channels innermost. Channels do not meet, so that the width of a vector changes no bit.
namespace martello::cpu::MARTELLO_ISA {
namespace {

// Calls f(number of vectors, first channel, lanes of each) for stretches of channels, four vectors at a time.
template <int N>
struct Count {
  static constexpr int value = N;
};
template <class T, class F>
inline void for_channels(int64_t n, F f) {
  constexpr int64_t w = Vec<T>::kLanes;
  int64_t i = 0;
  for (; i + 4 * w <= n; i += 4 * w) f(Count<4>(), i, w);
  for (; i + w <= n; i += w) f(Count<1>(), i, w);
  if (i < n) f(Count<1>(), i, n - i);
}

template <class T, class Index>
struct Indices {
  using Bits = typename Vec<T>::Bits;
  typedef Index Native __attribute__((vector_size(Vec<T>::kLanes * sizeof(Index))));
  static Bits load(const Index* p, int64_t lanes) {
    Native n{};
    memcpy(&n, p, static_cast<size_t>(lanes) * sizeof(Index));
    return __builtin_convertvector(n, Bits);
  }
  static void store(Index* p, int64_t lanes, Bits bits) {
    const Native n = __builtin_convertvector(bits, Native);
    memcpy(p, &n, static_cast<size_t>(lanes) * sizeof(Index));
  }
};
template <class T>
inline typename Vec<T>::Bits same_bits(int64_t number) {
  using Bits = typename Vec<T>::Bits;
  return Bits{} + static_cast<decltype(Bits{}[0] + 0)>(number);
}

template <class T, class Index>
void max_pixel(const T* x, T* y, Index* index, const PoolImage& p, Range h, Range w, int64_t oh, int64_t ow) {
  for_channels<T>(p.channels, [&](auto count, int64_t c, int64_t lanes) {
    constexpr int N = decltype(count)::value;
    Vec<T> best[N];
    typename Vec<T>::Bits at[N];
    const T* first = x + (h.begin * p.w.in + w.begin) * p.channels + c;
    for (int k = 0; k < N; ++k) best[k] = load(first + k * Vec<T>::kLanes, lanes);
    for (auto& a : at) a = same_bits<T>(place(p.h, h.begin, oh) * p.w.size + place(p.w, w.begin, ow));
    for (int64_t i = h.begin; i < h.end; ++i)
      for (int64_t j = w.begin; j < w.end; ++j) {
        const T* from = x + (i * p.w.in + j) * p.channels + c;
        const auto here = same_bits<T>(place(p.h, i, oh) * p.w.size + place(p.w, j, ow));
        for (int k = 0; k < N; ++k) {
          const Vec<T> v = load(from + k * Vec<T>::kLanes, lanes);
          // Larger, or the first NaN.
          const Mask<T> is_better = (best[k] == best[k]) & !(v <= best[k]);
          best[k] = select(is_better, v, best[k]);
          at[k] = is_better.bits ? here : at[k];
        }
      }
    for (int k = 0; k < N; ++k) {
      store(y + c + k * Vec<T>::kLanes, lanes, best[k]);
      Indices<T, Index>::store(index + c + k * Vec<T>::kLanes, lanes, at[k]);
    }
  });
}
template <class T, class Index>
void max_row(const T* x, T* y, Index* index, const PoolImage& p, int64_t oh) {
  const Range h = window(p.h, oh);
  const int64_t row = oh * p.w.out * p.channels;
  for (int64_t ow = 0; ow < p.w.out; ++ow) {
    const int64_t at = row + ow * p.channels;
    max_pixel(x, y + at, index + at, p, h, window(p.w, ow), oh, ow);
  }
}

// y = x where the index says so.
template <class T, class Index>
void take_row(const T* x, T* y, const Index* index, const PoolImage& p, int64_t oh) {
  const Range h = window(p.h, oh);
  for (int64_t ow = 0; ow < p.w.out; ++ow) {
    const Range w = window(p.w, ow);
    const int64_t at = (oh * p.w.out + ow) * p.channels;
    for_vectors<T>(p.channels, [&](int64_t c, int64_t lanes) {
      const auto chosen = Indices<T, Index>::load(index + at + c, lanes);
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

// Each input gathers from the outputs that chose it: no two threads write to one place, and sums have one order.
template <class T, class Index>
void max_grad_row(const T* dy, const Index* index, T* dx, const PoolImage& p, int64_t i) {
  const Range h = covering(p.h, i);
  for (int64_t j = 0; j < p.w.in; ++j) {
    const Range w = covering(p.w, j);
    for_channels<T>(p.channels, [&](auto count, int64_t c, int64_t lanes) {
      constexpr int N = decltype(count)::value;
      Vec<T> sum[N];
      for (auto& s : sum) s = Vec<T>(0);
      for (int64_t oh = h.begin; oh < h.end; ++oh)
        for (int64_t ow = w.begin; ow < w.end; ++ow) {
          const int64_t at = (oh * p.w.out + ow) * p.channels + c;
          const auto here = same_bits<T>(place(p.h, i, oh) * p.w.size + place(p.w, j, ow));
          for (int k = 0; k < N; ++k) {
            const int64_t lane = at + k * Vec<T>::kLanes;
            const Mask<T> is_chosen{Indices<T, Index>::load(index + lane, lanes) == here};
            sum[k] = sum[k] + select(is_chosen, load(dy + lane, lanes), Vec<T>(0));
          }
        }
      T* to = dx + (i * p.w.in + j) * p.channels + c;
      for (int k = 0; k < N; ++k) store(to + k * Vec<T>::kLanes, lanes, sum[k]);
    });
  }
}

template <class T>
inline Vec<T> inverse_count(Range h, Range w) {
  return Vec<T>(T{1} / static_cast<T>((h.end - h.begin) * (w.end - w.begin)));
}

template <class T>
void mean_row(const T* x, T* y, const PoolImage& p, int64_t oh) {
  const Range h = window(p.h, oh);
  for (int64_t ow = 0; ow < p.w.out; ++ow) {
    const Range w = window(p.w, ow);
    const Vec<T> factor = inverse_count<T>(h, w);
    for_vectors<T>(p.channels, [&](int64_t c, int64_t lanes) {
      Vec<T> sum(0);
      for (int64_t i = h.begin; i < h.end; ++i)
        for (int64_t j = w.begin; j < w.end; ++j) sum = sum + load(x + (i * p.w.in + j) * p.channels + c, lanes);
      store(y + (oh * p.w.out + ow) * p.channels + c, lanes, sum * factor);
    });
  }
}
template <class T>
void mean_grad_row(const T* dy, T* dx, const PoolImage& p, int64_t i) {
  const Range h = covering(p.h, i);
  for (int64_t j = 0; j < p.w.in; ++j) {
    const Range w = covering(p.w, j);
    for_vectors<T>(p.channels, [&](int64_t c, int64_t lanes) {
      Vec<T> sum(0);
      for (int64_t oh = h.begin; oh < h.end; ++oh)
        for (int64_t ow = w.begin; ow < w.end; ++ow) {
          const Vec<T> factor = inverse_count<T>(window(p.h, oh), window(p.w, ow));
          sum = sum + load(dy + (oh * p.w.out + ow) * p.channels + c, lanes) * factor;
        }
      store(dx + (i * p.w.in + j) * p.channels + c, lanes, sum);
    });
  }
}

}  // namespace

#define MARTELLO_POOL(T, Index) \
  { max_row<T, Index>, take_row<T, Index>, max_grad_row<T, Index> }
constexpr PoolLoops<float, uint8_t> pool_loops_f32_u8 = MARTELLO_POOL(float, uint8_t);
constexpr PoolLoops<float, int32_t> pool_loops_f32_i32 = MARTELLO_POOL(float, int32_t);
constexpr PoolLoops<double, uint8_t> pool_loops_f64_u8 = MARTELLO_POOL(double, uint8_t);
constexpr PoolLoops<double, int32_t> pool_loops_f64_i32 = MARTELLO_POOL(double, int32_t);
#undef MARTELLO_POOL
constexpr AvgPoolLoops<float> avg_pool_loops_f32 = {mean_row<float>, mean_grad_row<float>};
constexpr AvgPoolLoops<double> avg_pool_loops_f64 = {mean_row<double>, mean_grad_row<double>};

}  // namespace martello::cpu::MARTELLO_ISA
