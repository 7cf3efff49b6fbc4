#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/labels.h>
#include <martello/ops/internal/softmax_loops.h>

#include <algorithm>

namespace martello {
namespace {

using internal::Labels;

// loss = log(sum(exp(x - max))) - (x[label] - max): small differences stay exact when logits are large.
template <class T>
void loss_of_rows(const KernelRun& run, const Labels& labels, int64_t first, int64_t rows, int64_t classes) {
  T max[cpu::kSoftmaxRows], log_sum[cpu::kSoftmaxRows];
  const T* x = run.in<T>(0).data() + first * classes;
  T *loss = run.out<T>(0).data() + first, *prob = run.out<T>(1).data() + first * classes;
  cpu::softmax_loops<T>().softmax_rows(x, prob, max, log_sum, rows, classes);
  for (int64_t r = 0; r < rows; ++r) loss[r] = log_sum[r] - (x[r * classes + labels[first + r]] - max[r]);
}

template <class T>
void grad_of_rows(const KernelRun& run, const Labels& labels, int64_t first, int64_t rows, int64_t classes) {
  T of_label[cpu::kSoftmaxRows];  // dlogits may lie on prob
  const T *prob = run.in<T>(0).data() + first * classes, *dloss = run.in<T>(2).data() + first;
  T* dlogits = run.out<T>(0).data() + first * classes;
  for (int64_t r = 0; r < rows; ++r) of_label[r] = (prob[r * classes + labels[first + r]] - T{1}) * dloss[r];
  cpu::softmax_loops<T>().scale_rows(prob, dloss, dlogits, rows, classes);
  for (int64_t r = 0; r < rows; ++r) dlogits[r * classes + labels[first + r]] = of_label[r];
}

using RowsFn = void (*)(const KernelRun&, const Labels&, int64_t first, int64_t rows, int64_t classes);

// Of logits or probabilities and labels, in groups of rows.
Kernel rows_kernel(const KernelPlan& plan, RowsFn of_rows) {
  const int64_t classes = plan.in[0].shape[-1];
  const int64_t group = std::min(cpu::kSoftmaxRows, internal::rows_per_chunk(classes));
  return Kernel([=, where = plan.op.where(), label_dtype = plan.in[1].dtype](const KernelRun& run) {
    const Labels labels(where, run.in_[1], label_dtype, classes);
    const int64_t rows = run.in_[1].count;
    parallel_for(run.threads, ceil_div(rows, group),
                 [&](int64_t c) { of_rows(run, labels, c * group, std::min(group, rows - c * group), classes); });
  });
}

}  // namespace

Kernel sparse_softmax_cross_entropy_cpu(const KernelPlan& plan) {
  return rows_kernel(plan, plan.in[0].dtype == f32 ? loss_of_rows<float> : loss_of_rows<double>);
}
Kernel sparse_softmax_cross_entropy_grad_cpu(const KernelPlan& plan) {
  return rows_kernel(plan, plan.in[0].dtype == f32 ? grad_of_rows<float> : grad_of_rows<double>);
}

}  // namespace martello
