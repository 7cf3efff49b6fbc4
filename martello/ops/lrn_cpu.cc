#include <martello/base/threads.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/lrn.h>

#include <algorithm>

namespace martello {
namespace {

using internal::AxisView;

// One row of channels, distance by distance: long loops without a dependency.
template <class T>
void sum_row(const T* x, T* y, int64_t n, int64_t radius) {
  std::fill_n(y, n, T{0});
  for (int64_t d = -radius; d <= radius; ++d)
    for (int64_t i = std::max<int64_t>(0, -d); i < std::min(n, n - d); ++i) y[i] += x[i + d];
}

// Channel `channel` of `inner` pixels.
template <class T>
void sum_plane(const T* x, T* y, int64_t channel, int64_t n, int64_t inner, int64_t radius) {
  std::fill_n(y + channel * inner, inner, T{0});
  for (int64_t from = std::max<int64_t>(0, channel - radius); from < std::min(n, channel + radius + 1); ++from)
    for (int64_t i = 0; i < inner; ++i) y[channel * inner + i] += x[from * inner + i];
}

template <class T>
Kernel window_sum_kernel(const AxisView& view, int64_t wanted) {
  return Kernel([=](const KernelRun& run) {
    const int64_t n = view.size(run), outer = view.outer(run), inner = view.inner, radius = std::min(wanted, n);
    const int64_t items = inner == 1 ? outer : outer * n, chunk = internal::rows_per_chunk(inner == 1 ? n : inner);
    const T* x = static_cast<const T*>(run.in_[0].data);
    T* y = static_cast<T*>(run.out_[0].data);
    parallel_for(run.threads, ceil_div(items, chunk), [&](int64_t c) {
      for (int64_t i = c * chunk; i < std::min(items, (c + 1) * chunk); ++i) {
        if (inner == 1) sum_row(x + i * n, y + i * n, n, radius);
        else sum_plane(x + i / n * n * inner, y + i / n * n * inner, i % n, n, inner, radius);
      }
    });
  });
}

}  // namespace

Kernel channel_window_sum_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<ChannelWindowSumAttrs>();
  const AxisView view(plan.in[0].shape, a.axis);
  return plan.in[0].dtype == f32 ? window_sum_kernel<float>(view, a.radius) : window_sum_kernel<double>(view, a.radius);
}

}  // namespace martello
