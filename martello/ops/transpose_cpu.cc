#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/strided_copy.h>
#include <martello/ops/internal/permutation.h>
#include <martello/ops/transpose.h>

namespace martello {

Kernel transpose_cpu(const KernelPlan& plan) {
  const Shape &x = plan.in[0].shape, &y = plan.out[0].shape;
  const auto perm = internal::full_permutation(plan.attrs<TransposeAttrs>().perm, x.rank());
  const auto from = cpu::dense_strides(x), to = cpu::dense_strides(y);
  std::vector<cpu::CopyDim> dims;
  for (size_t i = 0; i < perm.size(); ++i)
    dims.push_back({y[static_cast<int>(i)], from[static_cast<size_t>(perm[i])], to[i]});
  const bool keeps_rows = !perm.empty() && perm[0] == 0;
  return Kernel([copy = cpu::RowwiseCopy(dims, size_of(plan.in[0].dtype)), keeps_rows,
                 planned = y.rank() > 0 ? y[0] : 1](const KernelRun& run) {
    const int64_t rows = keeps_rows ? run.in_rows(0) : planned;
    copy.run(run.in_[0].data, run.out_[0].data, rows, run.threads);
    run.set_out_rows(0, rows);
  });
}

}  // namespace martello
