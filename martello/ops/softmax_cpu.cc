#include <martello/base/threads.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/strided_copy.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/column_calls.h>
#include <martello/ops/internal/softmax_loops.h>
#include <martello/ops/softmax.h>

#include <algorithm>
#include <memory>

namespace martello {
namespace cpu {

template <>
const SoftmaxLoops<float>& softmax_loops<float>() {
  return of_host_isa(v2::softmax_loops_f32, v3::softmax_loops_f32, v4::softmax_loops_f32);
}
template <>
const SoftmaxLoops<double>& softmax_loops<double>() {
  return of_host_isa(v2::softmax_loops_f64, v3::softmax_loops_f64, v4::softmax_loops_f64);
}

}  // namespace cpu

namespace {

using cpu::SoftmaxLoops;
using internal::AxisView;

template <class F>
Kernel for_floating(DType dtype, F f) {
  return dtype == f32 ? f(float{}) : f(double{});
}

int64_t rows_per_call(int64_t n) { return std::min(cpu::kSoftmaxRows, internal::rows_per_chunk(n)); }

constexpr int64_t kMostColumns = 256;

// Calls row_loop(first row, rows) for groups of rows, or column_loop(outer, first column, columns).
template <class RowLoop, class ColumnLoop>
void run_groups(const AxisView& view, const KernelRun& run, RowLoop row_loop, ColumnLoop column_loop) {
  const int64_t outer = view.outer(run), n = view.size(run);
  if (view.inner == 1) {
    const int64_t group = rows_per_call(n);
    return parallel_for(run.threads, ceil_div(outer, group),
                        [&](int64_t c) { row_loop(c * group, std::min(group, outer - c * group), n); });
  }
  const int64_t group = internal::columns_per_call(outer, view.inner, kMostColumns);
  const int64_t groups = ceil_div(view.inner, group);
  internal::for_rows(run.threads, outer * groups, n * group, [&](int64_t i) {
    const int64_t first = i % groups * group;
    column_loop(i / groups, first, std::min(group, view.inner - first), n);
  });
}

template <class T, class Rows, class Columns>
Kernel softmax_kernel(const AxisView& view, Rows rows_loop, Columns columns_loop) {
  return Kernel([=](const KernelRun& run) {
    const T* x = static_cast<const T*>(run.in_[0].data);
    T* y = static_cast<T*>(run.out_[0].data);
    run_groups(
        view, run, [=](int64_t row, int64_t rows, int64_t n) { rows_loop(x + row * n, y + row * n, rows, n); },
        [=](int64_t outer, int64_t column, int64_t columns, int64_t n) {
          const int64_t at = outer * n * view.inner + column;
          columns_loop(x + at, y + at, n, view.inner, columns);
        });
  });
}

template <class T>
void run_logsumexp(const AxisView& view, const KernelRun& run, const T* x) {
  const SoftmaxLoops<T>& loops = cpu::softmax_loops<T>();
  T* y = static_cast<T*>(run.out_[0].data);
  run_groups(
      view, run, [=](int64_t row, int64_t rows, int64_t n) { loops.logsumexp_rows(x + row * n, y + row, rows, n); },
      [=](int64_t outer, int64_t column, int64_t columns, int64_t n) {
        loops.logsumexp_columns(x + outer * n * view.inner + column, y + outer * view.inner + column, n, view.inner,
                                columns);
      });
}

}  // namespace

Kernel softmax_cpu(const KernelPlan& plan) {
  const AxisView view(plan.in[0].shape, plan.attrs<SoftmaxAttrs>().axis);
  return for_floating(plan.in[0].dtype, [&]<class T>(T) {
    const auto loop = cpu::softmax_loops<T>().softmax_rows;
    const auto rows = [loop](const T* x, T* y, int64_t r, int64_t n) { loop(x, y, nullptr, nullptr, r, n); };
    return softmax_kernel<T>(view, rows, cpu::softmax_loops<T>().softmax_columns);
  });
}

Kernel log_softmax_cpu(const KernelPlan& plan) {
  const AxisView view(plan.in[0].shape, plan.attrs<SoftmaxAttrs>().axis);
  return for_floating(plan.in[0].dtype, [&]<class T>(T) {
    const SoftmaxLoops<T>& loops = cpu::softmax_loops<T>();
    return softmax_kernel<T>(view, loops.log_softmax_rows, loops.log_softmax_columns);
  });
}

namespace {

// Kept dimensions first, in order, then the marked ones: source strides of a dense tensor.
std::vector<cpu::CopyDim> marked_last(const Shape& shape, const std::vector<bool>& marked) {
  std::vector<cpu::CopyDim> dims;
  const auto strides = cpu::dense_strides(shape);
  for (const bool is_marked : {false, true})
    for (size_t i = 0; i < marked.size(); ++i)
      if (marked[i] == is_marked) dims.push_back({shape.symbolic()[i], strides[i], 0});
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    dims[i].dst = stride;
    stride *= std::max<int64_t>(dims[i].size, 1);
  }
  return dims;
}

// The elements of each sum side by side first, in scratch.
template <class T>
Kernel logsumexp_of_apart(const KernelPlan& plan, const std::vector<bool>& marked) {
  const Shape& shape = plan.in[0].shape;
  const int64_t kept = plan.out[0].shape.num_elements(), count = shape.num_elements();
  const AxisView view(Shape(kept, kept > 0 ? count / kept : 0), 1, 2);
  const auto copy = std::make_shared<const cpu::StridedCopy>(marked_last(shape, marked), size_of(dtype_of<T>));
  Kernel kernel([=](const KernelRun& run) {
    copy->run(run.in_[0].data, run.scratch, run.threads);
    RunTensor rows{run.scratch, count, kept};
    KernelRun as_rows = run;
    as_rows.in_ = &rows;
    run_logsumexp<T>(view, as_rows, reinterpret_cast<const T*>(run.scratch));
  });
  return kernel.scratch(checked_mul(count, size_of(dtype_of<T>)));
}

}  // namespace

Kernel logsumexp_cpu(const KernelPlan& plan) {
  const Shape& shape = plan.in[0].shape;
  const auto marked = internal::marked_axes(plan.attrs<ReduceAttrs>().axes, shape.rank());
  const auto range = internal::find_axis_range(marked);
  return for_floating(plan.in[0].dtype, [&]<class T>(T) {
    if (!range) return logsumexp_of_apart<T>(plan, marked);
    const AxisView view(shape, range->first, range->last);
    return Kernel(
        [view](const KernelRun& run) { run_logsumexp<T>(view, run, static_cast<const T*>(run.in_[0].data)); });
  });
}

}  // namespace martello
