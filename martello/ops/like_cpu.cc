#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/strided_copy.h>
#include <martello/ops/internal/float_reduce.h>
#include <martello/ops/like.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace martello {

namespace {

// The dimensions of g that must be summed to reach the shape of x.
std::vector<bool> summed_axes(const Shape& g, const Shape& x) {
  std::vector<bool> marked(static_cast<size_t>(g.rank()), true);
  for (int i = 0; i < x.rank(); ++i) {
    const int d = g.rank() - x.rank() + i;
    marked[static_cast<size_t>(d)] = x[i] == 1 && g[d] != 1;
  }
  return marked;
}

// Dimension d of the output of a copy that repeats x where it is smaller.
cpu::CopyDim repeat_dim(const Shape& x, const Shape& y, int d) {
  const int own = d - (y.rank() - x.rank());
  const bool is_repeated = own < 0 || x[own] == 1;
  return {y[d], is_repeated ? 0 : x.num_elements(own + 1, x.rank()), y.num_elements(d + 1, y.rank())};
}

template <class T>
void fill_all(T* y, int64_t count, T value, int threads) {
  constexpr int64_t kChunk = 65536;
  parallel_for(threads, ceil_div(count, kChunk),
               [=](int64_t c) { std::fill(y + c * kChunk, y + std::min(count, (c + 1) * kChunk), value); });
}

Kernel copy_all(const KernelPlan& plan) {
  return [width = static_cast<size_t>(size_of(plan.out[0].dtype))](const KernelRun& run) {
    if (run.out_[0].data == run.in_[0].data || run.out_[0].count == 0) return;
    std::memcpy(run.out_[0].data, run.in_[0].data, static_cast<size_t>(run.out_[0].count) * width);
  };
}

// No rows sum to 0. `sum` does not see it where x has the one row that g may lack.
Kernel sum_or_zero(const Kernel& sum, DType dtype) {
  const auto bind = [sum, width = size_of(dtype)](const KernelRun& at) -> BoundKernel {
    return [bound = sum.bind(at), width](const KernelRun& run) {
      if (run.in_[0].count > 0) bound(run);
      else if (run.out_[0].count > 0) std::memset(run.out_[0].data, 0, static_cast<size_t>(run.out_[0].count * width));
    };
  };
  return Kernel::with_bind(bind).scratch(sum.scratch_bytes()).implementation(sum.implementation());
}

Kernel sum_of(const KernelPlan& plan) {
  const auto marked = summed_axes(plan.in[0].shape, plan.in[1].shape);
  if (std::find(marked.begin(), marked.end(), true) == marked.end()) return copy_all(plan);
  return is_floating(plan.in[0].dtype) ? internal::float_reduce(plan, cpu::Reduction::Kind::sum, marked)
                                       : internal::integer_sum(plan, marked);
}

}  // namespace

Kernel sum_to_like_cpu(const KernelPlan& plan) { return sum_or_zero(sum_of(plan), plan.out[0].dtype); }

Kernel broadcast_cpu(const KernelPlan& plan) {
  const Shape &x = plan.in[0].shape, &y = plan.out[0].shape;
  std::vector<cpu::CopyDim> dims;
  for (int d = 0; d < y.rank(); ++d) dims.push_back(repeat_dim(x, y, d));
  if (dims.empty()) dims.push_back({});
  const int64_t planned_rows = dims[0].size;
  const auto copy = std::make_shared<const cpu::RowwiseCopy>(std::move(dims), size_of(plan.in[0].dtype));
  // `like` knows the rows of a run; a given shape has those it was planned with.
  const bool follows_like = !plan.attributes->is<BroadcastToAttrs>() && y.rank() > 0;
  return Kernel([=](const KernelRun& run) {
    const int64_t rows = follows_like ? run.in_rows(1) : planned_rows;
    copy->run(run.in_[0].data, run.out_[0].data, rows, run.threads);
  });
}

Kernel size_of_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<SizeOfAttrs>();
  const Shape& shape = plan.in[0].shape;
  const auto marked = internal::marked_axes(a.axes, shape.rank());
  const bool counts_rows = shape.rank() > 0 && marked[0];
  int64_t per_row = 1;
  for (int d = counts_rows ? 1 : 0; d < shape.rank(); ++d)
    if (marked[static_cast<size_t>(d)]) per_row = checked_mul(per_row, shape[d]);
  return visit_dtype(a.dtype, [&]<class T>(T) {
    return Kernel([=](const KernelRun& run) {
      const int64_t n = counts_rows ? per_row * run.in_rows(0) : per_row;
      if constexpr (std::is_arithmetic_v<T>) *static_cast<T*>(run.out_[0].data) = static_cast<T>(n);
    });
  });
}

Kernel fill_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<FillAttrs>();
  const HostTensor value = HostTensor::full(Shape(), a.dtype, a.value);
  return visit_dtype(a.dtype, [&]<class T>(T) {
    return Kernel([v = value.scalar<T>()](const KernelRun& run) {
      fill_all(static_cast<T*>(run.out_[0].data), run.out_[0].count, v, run.threads);
    });
  });
}

}  // namespace martello
