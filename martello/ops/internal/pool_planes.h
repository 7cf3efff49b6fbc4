#pragma once
#include <martello/ops/internal/pool_window.h>

// The loops of pool_isa.cc for planes of one channel, pixel by pixel.
namespace martello::cpu {
namespace {

template <class T, class Index>
void plane_max(const T* x, T* y, Index* index, const PoolImage& p, int64_t oh) {
  const Range h = window(p.h, oh);
  for (int64_t ow = 0; ow < p.w.out; ++ow) {
    const Range w = window(p.w, ow);
    int64_t best = h.begin * p.w.in + w.begin, best_i = h.begin, best_j = w.begin;
    for (int64_t i = h.begin; i < h.end; ++i)
      for (int64_t j = w.begin; j < w.end; ++j) {
        const T v = x[i * p.w.in + j];
        if (v <= x[best] || x[best] != x[best]) continue;
        best = i * p.w.in + j, best_i = i, best_j = j;
      }
    y[oh * p.w.out + ow] = x[best];
    index[oh * p.w.out + ow] = static_cast<Index>(place(p.h, best_i, oh) * p.w.size + place(p.w, best_j, ow));
  }
}

template <class T, class Index>
void plane_take(const T* x, T* y, const Index* index, const PoolImage& p, int64_t oh) {
  const Range h = window(p.h, oh);
  for (int64_t ow = 0; ow < p.w.out; ++ow) {
    const int64_t at = oh * p.w.out + ow, i = static_cast<int64_t>(index[at]) / p.w.size + oh * p.h.stride - p.h.before,
                  j = static_cast<int64_t>(index[at]) % p.w.size + ow * p.w.stride - p.w.before;
    const Range w = window(p.w, ow);
    const bool is_inside = h.begin <= i && i < h.end && w.begin <= j && j < w.end;
    y[at] = is_inside ? x[i * p.w.in + j] : T{0};
  }
}

template <class T, class Index>
void plane_max_grad(const T* dy, const Index* index, T* dx, const PoolImage& p, int64_t i, bool) {
  const Range h = covering(p.h, i);
  for (int64_t j = 0; j < p.w.in; ++j) {
    const Range w = covering(p.w, j);
    T sum = 0;
    for (int64_t oh = h.begin; oh < h.end; ++oh)
      for (int64_t ow = w.begin; ow < w.end; ++ow) {
        const int64_t at = oh * p.w.out + ow, here = place(p.h, i, oh) * p.w.size + place(p.w, j, ow);
        sum += static_cast<int64_t>(index[at]) == here ? dy[at] : T{0};
      }
    dx[i * p.w.in + j] = sum;
  }
}

template <class T>
T inverse_cells(Range h, Range w) {
  return T{1} / static_cast<T>((h.end - h.begin) * (w.end - w.begin));
}
template <class T>
void plane_mean(const T* x, T* y, const PoolImage& p, int64_t oh) {
  const Range h = window(p.h, oh);
  for (int64_t ow = 0; ow < p.w.out; ++ow) {
    const Range w = window(p.w, ow);
    T sum = 0;
    for (int64_t i = h.begin; i < h.end; ++i)
      for (int64_t j = w.begin; j < w.end; ++j) sum += x[i * p.w.in + j];
    y[oh * p.w.out + ow] = sum * inverse_cells<T>(h, w);
  }
}
template <class T>
void plane_mean_grad(const T* dy, T* dx, const PoolImage& p, int64_t i, bool) {
  const Range h = covering(p.h, i);
  for (int64_t j = 0; j < p.w.in; ++j) {
    const Range w = covering(p.w, j);
    T sum = 0;
    for (int64_t oh = h.begin; oh < h.end; ++oh)
      for (int64_t ow = w.begin; ow < w.end; ++ow)
        sum += dy[oh * p.w.out + ow] * inverse_cells<T>(window(p.h, oh), window(p.w, ow));
    dx[i * p.w.in + j] = sum;
  }
}

template <class T, class Index>
constexpr PoolLoops<T, Index> plane_pool_loops = {plane_max<T, Index>, plane_take<T, Index>, plane_max_grad<T, Index>};
template <class T>
constexpr AvgPoolLoops<T> plane_avg_pool_loops = {plane_mean<T>, plane_mean_grad<T>};

}  // namespace
}  // namespace martello::cpu
