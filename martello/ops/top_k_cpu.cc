#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/labels.h>
#include <martello/ops/internal/order.h>
#include <martello/ops/top_k.h>

#include <algorithm>
#include <numeric>

namespace martello {
namespace {

using internal::for_rows;
using internal::Labels;

int64_t last_of(const TensorSpec& spec) { return spec.shape[-1]; }

// A heap of the best so far in the output itself, the worst of them on top.
template <class T>
void top_k_of_row(const T* x, int64_t n, int64_t k, T* values, int64_t* indices) {
  const auto before = [x](int64_t i, int64_t j) { return internal::comes_before(x, i, j); };
  if (k == 0) return;
  std::iota(indices, indices + k, int64_t{0});
  std::make_heap(indices, indices + k, before);
  for (int64_t i = k; i < n; ++i) {
    if (!before(i, indices[0])) continue;
    std::pop_heap(indices, indices + k, before);
    indices[k - 1] = i;
    std::push_heap(indices, indices + k, before);
  }
  std::sort_heap(indices, indices + k, before);
  for (int64_t j = 0; j < k; ++j) values[j] = x[indices[j]];
}

template <class T>
void take_row(const T* x, const Labels& indices, int64_t first, int64_t k, T* y) {
  for (int64_t j = 0; j < k; ++j) y[j] = x[indices[first + j]];
}

template <class T>
void add_row(const T* values, const Labels& indices, int64_t first, int64_t k, T* y, int64_t n) {
  std::fill(y, y + n, T{});
  for (int64_t j = 0; j < k; ++j) {
    T& to = y[indices[first + j]];
    if constexpr (std::is_floating_point_v<T>) {
      to += values[j];
    } else {
      to = static_cast<T>(static_cast<uint64_t>(to) + static_cast<uint64_t>(values[j]));
    }
  }
}

template <class F>
Kernel for_numeric(DType dtype, F f) {
  switch (dtype) {
    case f32: return f(float{});
    case f64: return f(double{});
    case i32: return f(int32_t{});
    case u8: return f(uint8_t{});
    default: return f(int64_t{});
  }
}

}  // namespace

Kernel top_k_cpu(const KernelPlan& plan) {
  const int64_t n = last_of(plan.in[0]), k = plan.attrs<TopKAttrs>().k;
  return for_numeric(plan.in[0].dtype, [=]<class T>(T) {
    return Kernel([=](const KernelRun& run) {
      const T* x = static_cast<const T*>(run.in_[0].data);
      T* values = static_cast<T*>(run.out_[0].data);
      int64_t* indices = static_cast<int64_t*>(run.out_[1].data);
      for_rows(run.threads, n > 0 ? run.in_[0].count / n : 0, n,
               [=](int64_t r) { top_k_of_row(x + r * n, n, k, values + r * k, indices + r * k); });
    });
  });
}

Kernel take_along_last_cpu(const KernelPlan& plan) {
  const int64_t n = last_of(plan.in[0]), k = last_of(plan.in[1]);
  const auto where = plan.op.where();
  return for_numeric(plan.in[0].dtype, [=, index_dtype = plan.in[1].dtype]<class T>(T) {
    return Kernel([=](const KernelRun& run) {
      const Labels indices(where, run.in_[1], index_dtype, n, "indices", "elements");
      const T* x = static_cast<const T*>(run.in_[0].data);
      T* y = static_cast<T*>(run.out_[0].data);
      for_rows(run.threads, k > 0 ? run.in_[1].count / k : 0, k,
               [&](int64_t r) { take_row(x + r * n, indices, r * k, k, y + r * k); });
    });
  });
}

Kernel add_along_last_cpu(const KernelPlan& plan) {
  const int64_t n = last_of(plan.out[0]), k = last_of(plan.in[1]);
  const auto where = plan.op.where();
  return for_numeric(plan.in[0].dtype, [=, index_dtype = plan.in[1].dtype]<class T>(T) {
    return Kernel([=](const KernelRun& run) {
      const Labels indices(where, run.in_[1], index_dtype, n, "indices", "elements");
      const T* values = static_cast<const T*>(run.in_[0].data);
      T* y = static_cast<T*>(run.out_[0].data);
      for_rows(run.threads, n > 0 ? run.in_[2].count / n : 0, n + k,
               [&](int64_t r) { add_row(values + r * k, indices, r * k, k, y + r * n, n); });
    });
  });
}

}  // namespace martello
