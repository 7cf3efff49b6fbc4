#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>
#include <martello/ops/internal/row_index.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace martello {
namespace {

// Positions of true elements, in order; returns how many.
int64_t list_true(const bool* mask, int64_t n, int64_t* positions) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    positions[count] = i;
    count += mask[i] ? 1 : 0;
  }
  return count;
}

}  // namespace

Kernel boolean_mask_cpu(const KernelPlan& plan) {
  const Shape &x = plan.in[0].shape, &mask = plan.in[1].shape;
  const int64_t row_bytes = x.num_elements(mask.rank(), x.rank()) * size_of(plan.in[0].dtype);
  const int64_t bound = mask.num_elements();
  const std::string op = plan.op.where();
  Kernel kernel([row_bytes, bound, op](const KernelRun& run) {
    MARTELLO_CHECK(run.in_rows(0) == run.in_rows(1), op, "x has ", run.in_rows(0), " rows in this run, mask has ",
                   run.in_rows(1), ".");
    int64_t* positions = reinterpret_cast<int64_t*>(run.scratch);
    const int64_t count = list_true(static_cast<const bool*>(run.in_[1].data), run.in_[1].count, positions);
    std::byte* dst = static_cast<std::byte*>(run.out_[0].data);
    internal::take_rows(run.in_[0].data, positions, dst, {.inner = row_bytes, .indices = count}, 1, run.threads);
    const int64_t tail = (bound - count) * row_bytes;
    if (tail > 0) std::memset(dst + count * row_bytes, 0, static_cast<size_t>(tail));
    run.set_out_rows(0, count);
  });
  return kernel.scratch(checked_mul(checked_add(bound, 1), 8));
}

Kernel boolean_mask_grad_cpu(const KernelPlan& plan) {
  const Shape &dy = plan.in[0].shape, &mask = plan.in[1].shape;
  const int64_t row_bytes = dy.num_elements(1, dy.rank()) * size_of(plan.in[0].dtype), bound = mask.num_elements();
  const std::string op = plan.op.where();
  Kernel kernel([row_bytes, op](const KernelRun& run) {
    int64_t* positions = reinterpret_cast<int64_t*>(run.scratch);
    const int64_t n = run.in_[1].count;
    const int64_t count = list_true(static_cast<const bool*>(run.in_[1].data), n, positions);
    MARTELLO_CHECK(run.in_rows(0) >= count, op, "dy has ", run.in_rows(0), " rows for a mask with ", count,
                   " true elements.");
    std::byte* dst = static_cast<std::byte*>(run.out_[0].data);
    const std::byte* src = static_cast<const std::byte*>(run.in_[0].data);
    if (n * row_bytes > 0) std::memset(dst, 0, static_cast<size_t>(n * row_bytes));
    const int64_t chunk = internal::rows_per_copy(row_bytes);
    parallel_for(run.threads, row_bytes > 0 ? ceil_div(count, chunk) : 0, [&](int64_t c) {
      for (int64_t i = c * chunk; i < std::min(count, (c + 1) * chunk); ++i)
        std::memcpy(dst + positions[i] * row_bytes, src + i * row_bytes, static_cast<size_t>(row_bytes));
    });
    run.set_out_rows(0, run.in_rows(1));
  });
  return kernel.scratch(checked_mul(checked_add(bound, 1), 8));
}

}  // namespace martello
