#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/graph/communicator.h>
#include <martello/ops/all_reduce.h>
#include <martello/ops/internal/axis_view.h>

#include <algorithm>
#include <cstring>

namespace martello {
namespace {

template <class T>
void scale(const KernelRun& run, T factor) {
  T* y = static_cast<T*>(run.out_[0].data);
  const int64_t n = run.out_[0].count, chunk = internal::rows_per_chunk(1);
  parallel_for(run.threads, ceil_div(n, chunk), [&](int64_t c) {
    for (int64_t i = c * chunk; i < std::min(n, (c + 1) * chunk); ++i) y[i] *= factor;
  });
}

void copy_input(const KernelRun& run, DType dtype) {
  const int64_t bytes = run.in_[0].count * size_of(dtype);
  if (bytes > 0 && run.out_[0].data != run.in_[0].data)
    std::memcpy(run.out_[0].data, run.in_[0].data, static_cast<size_t>(bytes));
}

}  // namespace

Kernel all_reduce_cpu(const KernelPlan& plan) {
  const DType dtype = plan.in[0].dtype;
  Communicator* group = plan.communicator;
  if (!group || group->size() == 1) return Kernel([dtype](const KernelRun& run) { copy_input(run, dtype); });
  const bool is_mean = plan.attrs<AllReduceAttrs>().kind == AllReduceKind::mean;
  return Kernel([=, factor = 1.0 / group->size()](const KernelRun& run) {
    copy_input(run, dtype);
    group->all_reduce_sum(run.out_[0].data, run.out_[0].count, dtype);
    if (!is_mean) return;
    if (dtype == f32) scale<float>(run, static_cast<float>(factor));
    else scale<double>(run, factor);
  });
}

}  // namespace martello
