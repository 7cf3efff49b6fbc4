#include <martello/ops/in_top_k.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/labels.h>
#include <martello/ops/internal/order.h>

#include <cmath>

namespace martello {
namespace {

using internal::Labels;

template <class T>
bool is_in_top_k(const T* x, int64_t n, int64_t target, int64_t k) {
  if (!std::isfinite(x[target])) return false;
  int64_t larger = 0;
  for (int64_t i = 0; i < n; ++i) larger += internal::Larger<T>::beats(x[i], x[target]) ? 1 : 0;
  return larger < k;
}

// Nothing before it may be as large, nothing after it larger.
template <class T>
bool is_argmax(const T* x, int64_t n, int64_t target) {
  bool is_beaten = false;
  for (int64_t i = 0; i < target; ++i) is_beaten |= !internal::Larger<T>::beats(x[target], x[i]);
  for (int64_t i = target + 1; i < n; ++i) is_beaten |= internal::Larger<T>::beats(x[i], x[target]);
  return !is_beaten;
}

// y[row] = of_row(row of logits, classes, target)
template <class T, class Y, class F>
Kernel per_row_kernel(const KernelPlan& plan, F of_row) {
  const int64_t classes = plan.in[0].shape[-1];
  return Kernel([=, where = plan.op.where(), dtype = plan.in[1].dtype](const KernelRun& run) {
    const Labels targets(where, run.in_[1], dtype, classes);
    const T* x = static_cast<const T*>(run.in_[0].data);
    Y* y = static_cast<Y*>(run.out_[0].data);
    internal::for_rows(run.threads, run.in_[1].count, classes,
                       [&](int64_t r) { y[r] = of_row(x + r * classes, classes, targets[r]); });
  });
}

template <class T>
Kernel in_top_k_kernel(const KernelPlan& plan) {
  return per_row_kernel<T, bool>(
      plan, [k = plan.attrs<TopKAttrs>().k](const T* x, int64_t n, int64_t t) { return is_in_top_k(x, n, t, k); });
}

template <class T>
Kernel incorrect_kernel(const KernelPlan& plan) {
  return per_row_kernel<T, float>(plan,
                                  [](const T* x, int64_t n, int64_t t) { return is_argmax(x, n, t) ? 0.0f : 1.0f; });
}

}  // namespace

Kernel in_top_k_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? in_top_k_kernel<float>(plan) : in_top_k_kernel<double>(plan);
}
Kernel prediction_incorrect_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? incorrect_kernel<float>(plan) : incorrect_kernel<double>(plan);
}

}  // namespace martello
