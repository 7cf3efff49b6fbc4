#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/labels.h>
#include <martello/ops/internal/softmax_loops.h>

#include <algorithm>

namespace martello {
namespace {

using internal::Labels;

template <class T>
struct LossRun {
  const T* logits;
  T *loss, *prob;
  int64_t classes;
};

// loss = log(sum(exp(x - max))) - (x[label] - max): small differences stay exact when logits are large.
template <class T>
void loss_of_rows(const LossRun<T>& l, const Labels& labels, int64_t first, int64_t rows) {
  T max[cpu::kSoftmaxRows], log_sum[cpu::kSoftmaxRows];
  const T* x = l.logits + first * l.classes;
  cpu::softmax_loops<T>().softmax_rows(x, l.prob + first * l.classes, max, log_sum, rows, l.classes);
  for (int64_t r = 0; r < rows; ++r) l.loss[first + r] = log_sum[r] - (x[r * l.classes + labels[first + r]] - max[r]);
}

template <class T>
Kernel loss_kernel(const KernelPlan& plan) {
  const int64_t classes = plan.in[0].shape[plan.in[0].shape.rank() - 1];
  const int64_t group = std::min(cpu::kSoftmaxRows, internal::rows_per_chunk(classes));
  return Kernel([=, where = plan.op.where(), label_dtype = plan.in[1].dtype](const KernelRun& run) {
    const Labels labels(where, run.in_[1], label_dtype, classes);
    const LossRun<T> l{static_cast<const T*>(run.in_[0].data), static_cast<T*>(run.out_[0].data),
                       static_cast<T*>(run.out_[1].data), classes};
    const int64_t rows = run.in_[1].count;
    parallel_for(run.threads, ceil_div(rows, group),
                 [&](int64_t c) { loss_of_rows(l, labels, c * group, std::min(group, rows - c * group)); });
  });
}

template <class T>
struct GradRun {
  const T *prob, *dloss;
  T* dlogits;
  int64_t classes;
};

template <class T>
void grad_of_rows(const GradRun<T>& g, const Labels& labels, int64_t first, int64_t rows) {
  T of_label[cpu::kSoftmaxRows];  // dlogits may lie on prob
  const T *prob = g.prob + first * g.classes, *dloss = g.dloss + first;
  T* dlogits = g.dlogits + first * g.classes;
  for (int64_t r = 0; r < rows; ++r) of_label[r] = (prob[r * g.classes + labels[first + r]] - T{1}) * dloss[r];
  cpu::softmax_loops<T>().scale_rows(prob, dloss, dlogits, rows, g.classes);
  for (int64_t r = 0; r < rows; ++r) dlogits[r * g.classes + labels[first + r]] = of_label[r];
}

template <class T>
Kernel grad_kernel(const KernelPlan& plan) {
  const int64_t classes = plan.in[0].shape[plan.in[0].shape.rank() - 1];
  const int64_t group = std::min(cpu::kSoftmaxRows, internal::rows_per_chunk(classes));
  return Kernel([=, where = plan.op.where(), label_dtype = plan.in[1].dtype](const KernelRun& run) {
    const Labels labels(where, run.in_[1], label_dtype, classes);
    const GradRun<T> g{static_cast<const T*>(run.in_[0].data), static_cast<const T*>(run.in_[2].data),
                       static_cast<T*>(run.out_[0].data), classes};
    const int64_t rows = run.in_[1].count;
    parallel_for(run.threads, ceil_div(rows, group),
                 [&](int64_t c) { grad_of_rows(g, labels, c * group, std::min(group, rows - c * group)); });
  });
}

}  // namespace

Kernel sparse_softmax_cross_entropy_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? loss_kernel<float>(plan) : loss_kernel<double>(plan);
}
Kernel sparse_softmax_cross_entropy_grad_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f32 ? grad_kernel<float>(plan) : grad_kernel<double>(plan);
}

}  // namespace martello
