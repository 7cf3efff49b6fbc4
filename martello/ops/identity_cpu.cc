#include <martello/base/threads.h>
#include <martello/graph/kernel.h>

#include <algorithm>
#include <cstring>

namespace martello {

Kernel identity_cpu(const KernelPlan& plan) {
  const int64_t element_bytes = size_of(plan.in[0].dtype);
  return [element_bytes](const KernelRun& run) {
    const auto* x = static_cast<const std::byte*>(run.in_[0].data);
    auto* y = static_cast<std::byte*>(run.out_[0].data);
    if (x == y) return;
    constexpr int64_t kChunkBytes = 1 << 18;
    const int64_t bytes = run.out_[0].count * element_bytes;
    parallel_for(run.threads, (bytes + kChunkBytes - 1) / kChunkBytes, [=](int64_t i) {
      const int64_t first = i * kChunkBytes, count = std::min(kChunkBytes, bytes - first);
      std::memcpy(y + first, x + first, static_cast<size_t>(count));
    });
  };
}

}  // namespace martello
