#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/strided_copy.h>
#include <martello/ops/tile.h>

namespace martello {

// y as [count, size] per axis, where a count has stride 0 in x.
Kernel tile_cpu(const KernelPlan& plan) {
  const Shape &x = plan.in[0].shape, &y = plan.out[0].shape;
  const auto from = cpu::dense_strides(x), to = cpu::dense_strides(y);
  const auto& counts = plan.attrs<TileAttrs>().counts;
  std::vector<cpu::CopyDim> dims;
  const bool keeps_rows = !counts.empty() && counts[0] == 1;
  for (size_t i = 0; i < counts.size(); ++i) {
    const int64_t size = x[static_cast<int>(i)];
    if (i > 0 || !keeps_rows) dims.push_back({counts[i], 0, size * to[i]});
    dims.push_back({size, from[i], to[i]});
  }
  const int64_t planned = y.rank() > 0 ? y[0] : 1, first = dims.empty() ? 1 : dims[0].size;
  return Kernel(
      [copy = cpu::RowwiseCopy(dims, size_of(plan.in[0].dtype)), keeps_rows, planned, first](const KernelRun& run) {
        const int64_t rows = keeps_rows ? run.in_rows(0) : planned;
        copy.run(run.in_[0].data, run.out_[0].data, keeps_rows ? rows : first, run.threads);
        run.set_out_rows(0, rows);
      });
}

}  // namespace martello
