#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>
#include <martello/ops/one_hot.h>
#include <martello/tensor/host_tensor.h>

#include <algorithm>

namespace martello {
namespace {

template <class T>
T converted(double v) {
  if constexpr (sizeof(T) == 2) {
    return T(static_cast<float>(v));
  } else {
    return static_cast<T>(v);
  }
}

// Indices as [outer, inner], the result as [outer, depth, inner].
template <class I, class T>
void fill_one_hot(const I* indices, T* y, int64_t outer, int64_t inner, const OneHotAttrs& a, int threads) {
  const T on = converted<T>(a.on), off = converted<T>(a.off);
  const int64_t block = a.depth * inner, chunk = std::max<int64_t>(1, 16384 / std::max<int64_t>(block, 1));
  parallel_for(threads, ceil_div(outer, chunk), [&](int64_t c) {
    const int64_t begin = c * chunk, end = std::min(outer, begin + chunk);
    std::fill(y + begin * block, y + end * block, off);
    for (int64_t i = begin * inner; i < end * inner; ++i) {
      const int64_t k = static_cast<int64_t>(indices[i]);
      if (k >= 0 && k < a.depth) y[i / inner * block + k * inner + i % inner] = on;
    }
  });
}

}  // namespace

Kernel one_hot_cpu(const KernelPlan& plan) {
  const Shape &x = plan.in[0].shape, &y = plan.out[0].shape;
  const auto a = plan.attrs<OneHotAttrs>();
  const int axis = normalized_axis(a.axis, y.rank());
  const int64_t inner = x.num_elements(axis, x.rank()), planned = y[0];
  return visit_dtype(plan.in[0].dtype, [&](auto index) -> Kernel {
    return visit_dtype(a.dtype, [&](auto element) -> Kernel {
      using I = decltype(index);
      using T = decltype(element);
      return Kernel([=](const KernelRun& run) {
        const int64_t outer = axis == 0 ? 1 : inner == 0 ? 0 : run.in_[0].count / inner;
        fill_one_hot(static_cast<const I*>(run.in_[0].data), static_cast<T*>(run.out_[0].data), outer, inner, a,
                     run.threads);
        run.set_out_rows(0, axis > 0 ? run.in_rows(0) : planned);
      });
    });
  });
}

}  // namespace martello
