#include <martello/kernel/cpu/isa.h>
#include <martello/ops/arg_reduce.h>
#include <martello/ops/internal/arg_loops.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/order.h>
#include <martello/ops/internal/plain_reduce.h>

#include <limits>

namespace martello {
namespace {

using internal::AxisView;
using internal::Larger;
using internal::Smaller;

constexpr int64_t kColumns = 16;

// The index of the best element of each of n neighbouring columns.
template <class T, class Order>
void best_of_columns(const T* x, int64_t size, int64_t stride, int64_t n, int64_t* index) {
  T best[kColumns];
  for (int64_t j = 0; j < n; ++j) best[j] = x[j], index[j] = 0;
  for (int64_t i = 1; i < size; ++i) {
    const T* row = x + i * stride;
    for (int64_t j = 0; j < n; ++j) {
      const bool is_better = Order::beats(row[j], best[j]);
      best[j] = is_better ? row[j] : best[j];
      index[j] = is_better ? i : index[j];
    }
  }
}

// Four interleaved candidates: a chain of compares waits for each other, four of them do not.
template <class T, class Order>
int64_t best_of_row(const T* x, int64_t size) {
  constexpr int64_t kLanes = 4;
  if (size < 4 * kLanes) {
    int64_t index = 0;
    for (int64_t i = 1; i < size; ++i) index = Order::beats(x[i], x[index]) ? i : index;
    return index;
  }
  const int64_t rest = size % kLanes;
  int64_t index[kLanes];
  best_of_columns<T, Order>(x, size / kLanes, kLanes, kLanes, index);
  int64_t best = size;
  for (int64_t j = 0; j < kLanes; ++j) {
    const int64_t i = index[j] * kLanes + j;
    if (best == size || Order::beats(x[i], x[best]) || (!Order::beats(x[best], x[i]) && i < best)) best = i;
  }
  for (int64_t i = size - rest; i < size; ++i) best = Order::beats(x[i], x[best]) ? i : best;
  return best;
}

template <class T, class Order>
void run_arg_reduce(const AxisView& view, const KernelRun& run) {
  const int64_t outer = view.outer(run), size = view.size(run), inner = view.inner;
  const T* x = static_cast<const T*>(run.in_[0].data);
  int64_t* y = static_cast<int64_t*>(run.out_[0].data);
  internal::for_rows(run.threads, outer, size * inner, [&](int64_t o) {
    const T* row = x + o * size * inner;
    if (inner == 1) {
      y[o] = best_of_row<T, Order>(row, size);
      return;
    }
    for (int64_t j = 0; j < inner; j += kColumns)
      best_of_columns<T, Order>(row + j, size, inner, std::min(kColumns, inner - j), y + o * inner + j);
  });
}

// Vectors of f32 count rows in 32 bits.
constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

template <class T>
void run_loops(const AxisView& view, const KernelRun& run, const cpu::ArgLoops<T>& loops) {
  const int64_t outer = view.outer(run), size = view.size(run), inner = view.inner;
  const T* x = static_cast<const T*>(run.in_[0].data);
  int64_t* y = static_cast<int64_t*>(run.out_[0].data);
  if (inner == 1) {
    const int64_t rows = internal::rows_per_chunk(size);
    return parallel_for(run.threads, ceil_div(outer, rows), [&](int64_t c) {
      const int64_t first = c * rows;
      loops.rows(x + first * size, std::min(rows, outer - first), size, y + first);
    });
  }
  const int64_t groups = ceil_div(inner, cpu::kArgColumns);
  internal::for_rows(run.threads, outer * groups, size * std::min(inner, cpu::kArgColumns), [&](int64_t i) {
    const int64_t o = i / groups, j = i % groups * cpu::kArgColumns;
    loops.columns(x + o * size * inner + j, size, inner, std::min(cpu::kArgColumns, inner - j), y + o * inner + j);
  });
}

template <template <class> class Order>
Kernel arg_reduce_cpu(const KernelPlan& plan, const cpu::ArgLoops<float>& f32_loops,
                      const cpu::ArgLoops<double>& f64_loops) {
  const int axis = plan.attrs<ArgReduceAttrs>().axis;
  const Shape& shape = plan.in[0].shape;
  const DType dtype = plan.in[0].dtype;
  const AxisView view(shape, axis);
  const bool is_long = shape[normalized_axis(axis, shape.rank())] > kMostElements;
  if (dtype == f32 && !is_long) return Kernel([=](const KernelRun& run) { run_loops<float>(view, run, f32_loops); });
  if (dtype == f64 && !is_long) return Kernel([=](const KernelRun& run) { run_loops<double>(view, run, f64_loops); });
  return visit_dtype(dtype, [&]<class T>(T) {
    return Kernel([view](const KernelRun& run) { run_arg_reduce<T, Order<T>>(view, run); });
  });
}

template <class T>
struct CountNonzero {
  using In = T;
  using Acc = int64_t;
  static Acc none() { return 0; }
  static Acc step(Acc a, In x) { return a + (x != In{} ? 1 : 0); }
  static Acc merge(Acc a, Acc b) { return a + b; }
};

}  // namespace

Kernel argmax_cpu(const KernelPlan& plan) {
  using namespace cpu;
  return arg_reduce_cpu<Larger>(plan, of_host_isa(v2::largest_loops_f32, v3::largest_loops_f32, v4::largest_loops_f32),
                                of_host_isa(v2::largest_loops_f64, v3::largest_loops_f64, v4::largest_loops_f64));
}
Kernel argmin_cpu(const KernelPlan& plan) {
  using namespace cpu;
  return arg_reduce_cpu<Smaller>(plan,
                                 of_host_isa(v2::smallest_loops_f32, v3::smallest_loops_f32, v4::smallest_loops_f32),
                                 of_host_isa(v2::smallest_loops_f64, v3::smallest_loops_f64, v4::smallest_loops_f64));
}

Kernel count_nonzero_cpu(const KernelPlan& plan) {
  const auto marked = internal::marked_axes(plan.attrs<ReduceAttrs>().axes, plan.in[0].shape.rank());
  return visit_dtype(plan.in[0].dtype,
                     [&]<class T>(T) { return internal::plain_reduce<CountNonzero<T>>(plan, marked); });
}

}  // namespace martello
