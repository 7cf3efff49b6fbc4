#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/graph/kernel.h>
#include <martello/ops/internal/row_index.h>
#include <martello/ops/scatter.h>

namespace martello {
namespace {

using internal::RowBlocks;
using internal::RowIndex;

// Row numbers, then the links of add_rows().
int64_t scratch_bytes(const RowBlocks& b) {
  const int64_t per_batch = checked_add(b.rows, checked_mul(2, b.indices));
  return checked_mul(checked_mul(b.batch, per_batch), 8);
}

// `indices` and `values` are inputs; n tuples of this run.
struct Scatter {
  RowBlocks planned;
  RowIndex index;
  DType dtype;
  int indices = 0, values = 1;
  int64_t limit = 0;  // of the first indexed axis
  std::string where = {};

  void run(const KernelRun& run, int64_t n) const {
    RowBlocks blocks = planned;
    blocks.indices = n;
    const int64_t asked = blocks.batch * blocks.middle * n * blocks.inner;
    MARTELLO_CHECK(run.in_[values].count == asked, where, "there are ", n, " indices in this run, which ask for ",
                   asked, " elements, but ", run.in_[values].count, " came: their sizes depend on different data.");
    int64_t* rows = reinterpret_cast<int64_t*>(run.scratch);
    index.fill(run.in_[indices].data, blocks.batch * n, limit, rows, run.threads);
    internal::add_rows(dtype, run.in_[values].data, rows, run.out_[0].data, blocks, rows + blocks.batch * n,
                       run.threads);
  }
};

}  // namespace

Kernel scatter_nd_cpu(const KernelPlan& plan) {
  const Shape &y = plan.out[0].shape, &indices = plan.in[0].shape;
  const int depth = static_cast<int>(indices[-1]);
  const int64_t tuples = indices.num_elements(0, indices.rank() - 1);
  const RowBlocks blocks{1, 1, y.num_elements(0, depth), y.num_elements(depth, y.rank()), tuples};
  const Scatter scatter{
      blocks,         RowIndex(plan, 0, y.slice(0, depth).symbolic()), plan.out[0].dtype, 0, 1, depth > 0 ? y[0] : 1,
      plan.op.where()};
  Kernel kernel([scatter, depth, tuples](const KernelRun& run) {
    scatter.run(run, depth > 0 ? run.in_[0].count / depth : tuples);
  });
  return kernel.scratch(scratch_bytes(blocks));
}

Kernel densify_cpu(const KernelPlan& plan) {
  const Shape& y = plan.out[0].shape;
  const RowBlocks blocks{1, 1, y[0], y.num_elements(1, y.rank()), plan.in[0].shape.num_elements()};
  const Scatter scatter{blocks, RowIndex(plan, 0, {y[0]}), plan.out[0].dtype, 0, 1, y[0], plan.op.where()};
  Kernel kernel([scatter](const KernelRun& run) { scatter.run(run, run.in_[0].count); });
  return kernel.scratch(scratch_bytes(blocks));
}

Kernel gather_grad_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<GatherGradAttrs>();
  const Shape &dx = plan.out[0].shape, &indices = plan.in[1].shape;
  const int axis = normalized_axis(a.axis, dx.rank());
  const RowBlocks blocks{dx.num_elements(0, a.batch_dims), dx.num_elements(a.batch_dims, axis), dx[axis],
                         dx.num_elements(axis + 1, dx.rank()), indices.num_elements(a.batch_dims, indices.rank())};
  const Scatter scatter{blocks, RowIndex(plan, 1, {dx[axis]}), plan.out[0].dtype, 1, 0, dx[axis], plan.op.where()};
  Kernel kernel([scatter, n = blocks.indices](const KernelRun& run) { scatter.run(run, n); });
  return kernel.scratch(scratch_bytes(blocks));
}

}  // namespace martello
