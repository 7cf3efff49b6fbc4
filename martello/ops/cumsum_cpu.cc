#include <martello/ops/cumsum.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/column_calls.h>

#include <algorithm>
#include <type_traits>

namespace martello {
namespace {

using internal::AxisView;
constexpr int64_t kMostColumns = 512, kRows = 4;

template <class T>
T wrapping_sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
}

// At most kMostColumns neighbouring columns of n elements. x and y may be the same.
template <class T>
void cumsum_columns(const T* x, T* y, int64_t n, int64_t stride, int64_t columns, const CumsumAttrs& a) {
  T sum[kMostColumns];
  std::fill_n(sum, columns, T{0});
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = (a.reverse ? n - 1 - i : i) * stride;
    for (int64_t j = 0; j < columns; ++j) {
      const T next = wrapping_sum(sum[j], x[row + j]);
      y[row + j] = a.exclusive ? sum[j] : next;
      sum[j] = next;
    }
  }
}

// R neighbouring rows of n elements: each sum waits for the one before it, the rows do not wait for each other. With
// more than four, rows of a power of two would drive each other out of the first cache.
template <int R, class T>
void cumsum_rows(const T* x, T* y, int64_t n, const CumsumAttrs& a) {
  T sum[R] = {};
  const int64_t step = a.reverse ? -1 : 1;
  for (int64_t k = 0, i = a.reverse ? n - 1 : 0; k < n; ++k, i += step) {
    T next[R];
    for (int r = 0; r < R; ++r) next[r] = wrapping_sum(sum[r], x[r * n + i]);
    for (int r = 0; r < R; ++r) y[r * n + i] = a.exclusive ? sum[r] : next[r];
    for (int r = 0; r < R; ++r) sum[r] = next[r];
  }
}

template <class T>
void cumsum_all_rows(const T* x, T* y, int64_t rows, int64_t n, const CumsumAttrs& a) {
  int64_t r = 0;
  for (; r + kRows <= rows; r += kRows) cumsum_rows<kRows>(x + r * n, y + r * n, n, a);
  for (; r < rows; ++r) cumsum_rows<1>(x + r * n, y + r * n, n, a);
}

template <class T>
Kernel cumsum_of_rows(const AxisView& view, const CumsumAttrs& a) {
  return Kernel([=](const KernelRun& run) {
    const int64_t n = view.size(run), rows = view.outer(run);
    const int64_t chunk = align_up(internal::rows_per_chunk(n), kRows);
    const T* x = static_cast<const T*>(run.in_[0].data);
    T* y = static_cast<T*>(run.out_[0].data);
    parallel_for(run.threads, ceil_div(rows, chunk), [&](int64_t c) {
      cumsum_all_rows(x + c * chunk * n, y + c * chunk * n, std::min(chunk, rows - c * chunk), n, a);
    });
  });
}

template <class T>
Kernel cumsum_kernel(const AxisView& view, const CumsumAttrs& a) {
  if (view.inner == 1) return cumsum_of_rows<T>(view, a);
  return Kernel([=](const KernelRun& run) {
    const int64_t n = view.size(run), most = internal::columns_per_call(view.outer(run), view.inner, kMostColumns);
    const int64_t groups = ceil_div(view.inner, most), items = view.outer(run) * groups;
    const T* x = static_cast<const T*>(run.in_[0].data);
    T* y = static_cast<T*>(run.out_[0].data);
    internal::for_rows(run.threads, items, n * std::min(most, view.inner), [&](int64_t i) {
      const int64_t column = i % groups * most, at = i / groups * n * view.inner + column;
      cumsum_columns(x + at, y + at, n, view.inner, std::min(most, view.inner - column), a);
    });
  });
}

}  // namespace

Kernel cumsum_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<CumsumAttrs>();
  const AxisView view(plan.in[0].shape, a.axis);
  switch (plan.in[0].dtype) {
    case f32: return cumsum_kernel<float>(view, a);
    case f64: return cumsum_kernel<double>(view, a);
    case i32: return cumsum_kernel<int32_t>(view, a);
    default: return cumsum_kernel<int64_t>(view, a);
  }
}

}  // namespace martello
