#include <martello/ops/custom_gradient.h>

#include <cstring>

namespace martello {

// Runs only where simplification, which removes the node, is switched off.
Kernel custom_gradient_cpu(const KernelPlan& plan) {
  std::vector<int64_t> element_bytes;
  for (const TensorSpec& y : plan.out) element_bytes.push_back(size_of(y.dtype));
  return [element_bytes](const KernelRun& run) {
    for (size_t i = 0; i < element_bytes.size(); ++i) {
      const int64_t bytes = run.out_[i].count * element_bytes[i];
      if (bytes > 0 && run.out_[i].data != run.in_[i].data)
        std::memcpy(run.out_[i].data, run.in_[i].data, static_cast<size_t>(bytes));
    }
  };
}

}  // namespace martello
