#include <martello/ops/cumsum.h>
#include <martello/ops/internal/axis_view.h>

#include <algorithm>
#include <type_traits>

namespace martello {
namespace {

using internal::AxisView;
constexpr int64_t kColumns = 64;

template <class T>
T wrapping_sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
}

// At most kColumns neighbouring columns of n elements. x and y may be the same.
template <class T>
void cumsum_columns(const T* x, T* y, int64_t n, int64_t stride, int64_t columns, const CumsumAttrs& a) {
  T sum[kColumns] = {};
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = (a.reverse ? n - 1 - i : i) * stride;
    for (int64_t j = 0; j < columns; ++j) {
      const T next = wrapping_sum(sum[j], x[row + j]);
      y[row + j] = a.exclusive ? sum[j] : next;
      sum[j] = next;
    }
  }
}

template <class T>
Kernel cumsum_kernel(const AxisView& view, const CumsumAttrs& a) {
  return Kernel([=](const KernelRun& run) {
    const int64_t n = view.size(run), groups = ceil_div(view.inner, kColumns), items = view.outer(run) * groups;
    const T* x = static_cast<const T*>(run.in_[0].data);
    T* y = static_cast<T*>(run.out_[0].data);
    internal::for_rows(run.threads, items, n * std::min(kColumns, view.inner), [&](int64_t i) {
      const int64_t column = i % groups * kColumns, at = i / groups * n * view.inner + column;
      cumsum_columns(x + at, y + at, n, view.inner, std::min(kColumns, view.inner - column), a);
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
