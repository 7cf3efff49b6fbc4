#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/graph/kernel.h>
#include <martello/ops/gather.h>
#include <martello/ops/internal/row_index.h>

namespace martello {

using internal::RowBlocks;
using internal::RowIndex;

Kernel gather_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<GatherAttrs>();
  const Shape &x = plan.in[0].shape, &indices = plan.in[1].shape;
  const int axis = normalized_axis(a.axis, x.rank());
  const RowBlocks planned{x.num_elements(0, a.batch_dims), x.num_elements(a.batch_dims, axis), x[axis],
                          x.num_elements(axis + 1, x.rank()), indices.num_elements(a.batch_dims, indices.rank())};
  const int64_t planned_rows = axis > 0 ? x[0] : 1, out_rows = plan.out[0].shape.rank() > 0 ? plan.out[0].shape[0] : 1;
  Kernel kernel([=, batch_dims = a.batch_dims, width = size_of(plan.in[0].dtype),
                 index = RowIndex(plan, 1, {x[axis]})](const KernelRun& run) {
    RowBlocks blocks = planned;
    if (batch_dims > 0 && planned_rows > 0) blocks.batch = planned.batch / planned_rows * run.in_rows(0);
    if (batch_dims == 0 && axis > 0 && planned_rows > 0) blocks.middle = planned.middle / planned_rows * run.in_rows(0);
    if (axis == 0) {
      blocks.rows = run.in_rows(0);
      blocks.indices = run.in_[1].count;
    }
    int64_t* rows = reinterpret_cast<int64_t*>(run.scratch);
    index.fill(run.in_[1].data, blocks.batch * blocks.indices, blocks.rows, rows, run.threads);
    internal::take_rows(run.in_[0].data, rows, run.out_[0].data, blocks, width, run.threads);
    const bool is_scalar_pick = axis == 0 && indices.rank() == 0;
    run.set_out_rows(0, is_scalar_pick ? out_rows : axis == 0 ? run.in_rows(1) : run.in_rows(0));
  });
  return kernel.scratch(checked_mul(indices.num_elements(), 8));
}

Kernel gather_nd_cpu(const KernelPlan& plan) {
  const Shape &x = plan.in[0].shape, &indices = plan.in[1].shape;
  const int depth = static_cast<int>(indices[-1]);
  const int64_t tuples = indices.num_elements(0, indices.rank() - 1), inner = x.num_elements(depth, x.rank());
  const int64_t out_rows = plan.out[0].shape.rank() > 0 ? plan.out[0].shape[0] : 1;
  Kernel kernel([=, is_rowwise = indices.rank() > 1, width = size_of(plan.in[0].dtype),
                 index = RowIndex(plan, 1, x.slice(0, depth).symbolic())](const KernelRun& run) {
    const int64_t n = depth > 0 ? run.in_[1].count / depth : tuples;
    int64_t* rows = reinterpret_cast<int64_t*>(run.scratch);
    index.fill(run.in_[1].data, n, run.in_rows(0), rows, run.threads);
    const RowBlocks blocks{1, 1, 1, inner, n};
    internal::take_rows(run.in_[0].data, rows, run.out_[0].data, blocks, width, run.threads);
    run.set_out_rows(0, is_rowwise ? run.in_rows(1) : out_rows);
  });
  return kernel.scratch(checked_mul(tuples, 8));
}

}  // namespace martello
