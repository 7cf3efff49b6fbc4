#include <martello/base/threads.h>
#include <martello/kernel/cpu/caches.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/group_norm_kernel.h>
#include <martello/ops/internal/layer_norm_loops.h>
#include <martello/ops/internal/scratch.h>
#include <martello/ops/layer_norm.h>

#include <algorithm>
#include <initializer_list>

namespace martello {
namespace cpu {

template <>
const LayerNormLoops<float>& layer_norm_loops<float>() {
  return of_host_isa(v2::layer_norm_loops_f32, v3::layer_norm_loops_f32, v4::layer_norm_loops_f32);
}
template <>
const LayerNormLoops<double>& layer_norm_loops<double>() {
  return of_host_isa(v2::layer_norm_loops_f64, v3::layer_norm_loops_f64, v4::layer_norm_loops_f64);
}

}  // namespace cpu

namespace {

using internal::GroupView;

GroupView view_of(const KernelPlan& plan) {
  const Shape& x = plan.in[0].shape;
  const auto& a = plan.attrs<LayerNormAttrs>();
  const int begin = normalized_axis(a.begin_axis, x.rank()), channel = channel_axis(a.data_format, x.rank());
  GroupView groups{.segments_per_row = begin > 0 ? x.num_elements(1, begin) : 0, .groups = 1, .epsilon = a.epsilon};
  groups.view.segments = x.num_elements(0, begin);
  groups.view.channels = x[channel];
  groups.view.is_last = channel == x.rank() - 1;
  if (groups.view.is_last) groups.view.pixels = x.num_elements(begin, channel);
  else groups.view.images = x.num_elements(begin, channel), groups.view.pixels = x.num_elements(channel + 1, x.rank());
  return groups;
}

// Moments of vectors side by side: one pass, row by row.
bool is_of_rows(const GroupView& g) { return g.view.pixels == 1 && g.view.images == 1; }
int64_t rows_of(const KernelRun& run, const GroupView& g) {
  return g.segments_per_row > 0 ? checked_mul(run.in_rows(0), g.segments_per_row) : g.view.segments;
}
// At least 16 rows, so that the sums of a chunk are short beside it.
int64_t chunk_rows(int64_t n) { return std::clamp<int64_t>(65536 / std::max<int64_t>(n, 1), 16, 1024); }

template <class T>
T* in(const KernelRun& run, int i) {
  return static_cast<T*>(run.in_[i].data);
}
template <class T>
T* out(const KernelRun& run, int i) {
  return static_cast<T*>(run.out_[i].data);
}

// Results go past the caches where these do not hold them beside what is read, unless they take its place.
template <class T>
bool is_streamed(const T* y, std::initializer_list<const T*> read, int64_t elements) {
  const auto bytes = static_cast<int64_t>((read.size() + 1) * sizeof(T));
  return std::ranges::find(read, y) == read.end() && elements * bytes > cpu::last_level_cache_bytes();
}

template <class T>
Kernel rows_kernel(const GroupView& g) {
  return Kernel([g](const KernelRun& run) {
    const int64_t n = g.view.channels, rows = rows_of(run, g), chunk = chunk_rows(n);
    const T* x = in<T>(run, 0);
    T* y = out<T>(run, 0);
    const bool streaming = is_streamed<T>(y, {x}, rows * n);
    parallel_for(run.threads, ceil_div(rows, chunk), [&](int64_t i) {
      const int64_t r = i * chunk;
      cpu::layer_norm_loops<T>().normalize(x + r * n, in<T>(run, 1), in<T>(run, 2), y + r * n, out<T>(run, 1) + r,
                                           out<T>(run, 2) + r, std::min(chunk, rows - r), n, g.epsilon, streaming);
    });
  });
}

// y = the sum of x[k, which], x [rows, 2, n], in order.
template <class T>
void sum_rows(const T* x, int64_t rows, int64_t which, T* y, int64_t n, int threads) {
  constexpr int64_t kColumns = 64;
  parallel_for(threads, ceil_div(n, kColumns), [&](int64_t i) {
    const int64_t first = i * kColumns, columns = std::min(kColumns, n - first);
    double sums[kColumns] = {};
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < columns; ++k) sums[k] += static_cast<double>(x[(2 * r + which) * n + first + k]);
    for (int64_t k = 0; k < columns; ++k) y[first + k] = static_cast<T>(sums[k]);
  });
}

template <class T>
Kernel rows_grad_kernel(const GroupView& g) {
  const int64_t n = g.view.channels, chunk = chunk_rows(n);
  Kernel kernel([=](const KernelRun& run) {
    const int64_t rows = rows_of(run, g), chunks = ceil_div(rows, chunk);
    T* sums = reinterpret_cast<T*>(run.scratch);
    const bool streaming = is_streamed<T>(out<T>(run, 0), {in<T>(run, 0), in<T>(run, 4)}, rows * n);
    parallel_for(run.threads, chunks, [&](int64_t i) {
      const int64_t r = i * chunk, at = r * n;
      cpu::layer_norm_loops<T>().gradient(in<T>(run, 0) + at, in<T>(run, 1), in<T>(run, 2) + r, in<T>(run, 3) + r,
                                          in<T>(run, 4) + at, out<T>(run, 0) + at, sums + i * 2 * n,
                                          sums + (i * 2 + 1) * n, std::min(chunk, rows - r), n, g.epsilon, streaming);
    });
    sum_rows(sums, chunks, 0, out<T>(run, 1), n, run.threads);
    sum_rows(sums, chunks, 1, out<T>(run, 2), n, run.threads);
  });
  internal::Scratch scratch;
  scratch.take<T>(checked_mul(checked_mul(ceil_div(g.view.segments, chunk), 2), n));
  return kernel.scratch(scratch.bytes());
}

}  // namespace

Kernel layer_norm_cpu(const KernelPlan& plan) {
  const GroupView g = view_of(plan);
  if (!is_of_rows(g)) return internal::group_norm_kernel(plan.in[0].dtype, g);
  return plan.in[0].dtype == f32 ? rows_kernel<float>(g) : rows_kernel<double>(g);
}
Kernel layer_norm_grad_cpu(const KernelPlan& plan) {
  const GroupView g = view_of(plan);
  if (!is_of_rows(g)) return internal::group_norm_grad_kernel(plan.in[0].dtype, g);
  return plan.in[0].dtype == f32 ? rows_grad_kernel<float>(g) : rows_grad_kernel<double>(g);
}

}  // namespace martello
