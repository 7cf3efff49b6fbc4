#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/flush_denormals.h>
#include <martello/ops/internal/labels.h>
#include <martello/ops/internal/row_index.h>
#include <martello/ops/internal/update_scalars.h>

#include <algorithm>
#include <numeric>

namespace martello {
namespace {

using internal::UpdateLayout;

constexpr int64_t kPart = 256;  // elements of a row that are summed at once

template <class T>
struct SparseUpdate {
  OptimizerUpdateAttrs attrs;
  UpdateLayout layout;
  DType rate_dtype;
  internal::RowIndex index;
  int64_t rows, inner;
  std::string where;

  explicit SparseUpdate(const KernelPlan& plan)
      : attrs(plan.attrs<OptimizerUpdateAttrs>()),
        layout(attrs, true),
        rate_dtype(plan.in[0].dtype),
        index(plan, layout.gradients, {table(plan)[0]}),
        rows(table(plan)[0]),
        inner(table(plan).num_elements(1, table(plan).rank())),
        where(plan.op.where()) {}

  const Shape& table(const KernelPlan& plan) const { return plan.in[static_cast<size_t>(layout.variable(0))].shape; }

  // Positions of the indices, those of one row side by side and in their order.
  static void sort(const int64_t* row, int64_t* order, int64_t n) {
    std::iota(order, order + n, int64_t{0});
    std::sort(order, order + n, [row](int64_t a, int64_t b) { return row[a] < row[b] || (row[a] == row[b] && a < b); });
  }

  // The row of positions order[first, last).
  void update_row(const KernelRun& run, int64_t row, const int64_t* first, const int64_t* last,
                  const cpu::UpdateConstants<T>& constants) const {
    const T* values = static_cast<const T*>(run.in_[layout.gradients + 1].data);
    T sum[kPart];
    for (int64_t begin = 0; begin < inner; begin += kPart) {
      const int64_t n = std::min(kPart, inner - begin);
      std::copy_n(values + *first * inner + begin, n, sum);
      for (const int64_t* p = first + 1; p < last; ++p)
        for (int64_t i = 0; i < n; ++i) sum[i] += values[*p * inner + begin + i];
      const auto at = [&](int input) { return static_cast<T*>(run.in_[input].data) + row * inner + begin; };
      cpu::UpdateSpan<T> span;
      span.g = sum;
      span.w = at(layout.variable(0));
      for (int s = 0; s < layout.traits.slots; ++s) span.slots[s] = at(layout.slot(s, 0));
      span.count = n;
      span.constants = constants;
      internal::update_loop<T>(attrs.rule)(span);
    }
  }

  void operator()(const KernelRun& run) const {
    const RunTensor &indices = run.in_[layout.gradients], &values = run.in_[layout.gradients + 1];
    const int64_t n = indices.count;
    MARTELLO_CHECK(values.count == n * inner, where, "there are ", n, " indices in this run, which ask for ", n * inner,
                   " elements, but ", values.count, " came.");
    int64_t* row = reinterpret_cast<int64_t*>(run.scratch);
    int64_t* order = row + n;
    index.fill(indices.data, n, rows, row, run.threads);
    if (internal::is_closed(run, layout)) return;
    sort(row, order, n);
    const double rate = internal::read_scalar(run, 0, rate_dtype);
    const auto constants = internal::make_constants<T>(attrs, rate, internal::next_step(run, layout));
    const int64_t chunk = std::max<int64_t>(1, 8192 / std::max<int64_t>(inner, 1));
    parallel_for(run.threads, ceil_div(n, chunk), [&](int64_t c) {
      const cpu::FlushDenormals flush;
      for (int64_t i = c * chunk; i < std::min(n, (c + 1) * chunk); ++i) {
        if (i > 0 && row[order[i - 1]] == row[order[i]]) continue;
        int64_t end = i + 1;
        while (end < n && row[order[end]] == row[order[i]]) ++end;
        update_row(run, row[order[i]], order + i, order + end, constants);
      }
    });
  }
};

template <class T>
Kernel sparse_kernel(const KernelPlan& plan) {
  const SparseUpdate<T> update(plan);
  const int64_t n = plan.in[static_cast<size_t>(update.layout.gradients)].shape.num_elements();
  return Kernel(update).scratch(checked_mul(n, 16));
}

}  // namespace

Kernel sparse_optimizer_update_cpu(const KernelPlan& plan) {
  const UpdateLayout layout(plan.attrs<OptimizerUpdateAttrs>(), true);
  const bool is_f64 = plan.in[static_cast<size_t>(layout.variable(0))].dtype == f64;
  return is_f64 ? sparse_kernel<double>(plan) : sparse_kernel<float>(plan);
}

}  // namespace martello
