#pragma once
#include <martello/base/threads.h>
#include <martello/ops/internal/gemm_loops.h>
#include <martello/ops/internal/matmul_plan.h>

// Note [Short products]: y = a^T b with few rows of a and b, as the gradient of a layer's matrix for a small batch.
// Every thread makes a part of y that lies in one piece of memory: the part that the update gives it, and of the matrix
// itself SplitGemm. So weights, gradient and slots stay in the caches of one core from step to step, which counts where
// cores share none.
namespace martello::internal {

class ShortGemm {
 public:
  explicit ShortGemm(const MatmulSizes& sizes);

  // Or as fast as the library.
  static bool is_faster(const MatmulSizes& sizes, const MatmulFlags& flags);

  int64_t scratch_bytes() const { return 0; }
  // All of the planned k.
  void run(const KernelRun& run) const;

 private:
  void multiply(const KernelRun& run, Share rows) const;

  MatmulSizes sizes_;
  const cpu::GemmLoops<float>* loops_;
};

}  // namespace martello::internal
