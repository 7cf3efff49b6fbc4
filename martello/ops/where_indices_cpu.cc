#include <martello/base/checked.h>
#include <martello/graph/kernel.h>

#include <algorithm>
#include <vector>

namespace martello {

// One pass by one thread: where a place is written depends on all before it.
Kernel where_indices_cpu(const KernelPlan& plan) {
  const Shape& condition = plan.in[0].shape;
  const int rank = condition.rank();
  return Kernel([rank, bound = plan.out[0].shape[0], sizes = condition.symbolic()](const KernelRun& run) {
    const bool* is_true = static_cast<const bool*>(run.in_[0].data);
    int64_t* y = static_cast<int64_t*>(run.out_[0].data);
    int64_t count = 0;
    for (int64_t i = 0; i < run.in_[0].count; ++i) {
      if (!is_true[i]) continue;
      int64_t rest = i;
      for (int axis = rank - 1; axis > 0; --axis) {
        const int64_t size = sizes[static_cast<size_t>(axis)];
        y[count * rank + axis] = rest % size;
        rest /= size;
      }
      y[count++ * rank] = rest;
    }
    std::fill(y + count * rank, y + bound * rank, int64_t{0});
    run.set_out_rows(0, count);
  });
}

}  // namespace martello
