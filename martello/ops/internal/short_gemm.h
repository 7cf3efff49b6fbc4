#pragma once
#include <martello/base/threads.h>
#include <martello/kernel/cpu/caches.h>
#include <martello/ops/internal/gemm_loops.h>
#include <martello/ops/internal/matmul_plan.h>

// Note [Short products]: y = a^T b with few rows of a and b, as the gradient of a layer's matrix for a small batch.
// Every thread makes a part of y that lies in one piece of memory: the part that the update gives it, and of the matrix
// itself SplitGemm. So weights, gradient and slots stay in the caches of one core from step to step, which counts where
// cores share none. The columns of a lie far apart, and so do the rows of a panel of b, often in the same few places
// of a cache. Where that is slow, and where they are so few that it costs nothing, a thread copies both: b in blocks of
// panels that its second cache holds, a for a piece of y at a time. A few rows of y are then made from their first
// column to their last, as they lie in memory.
namespace martello::internal {

class ShortGemm {
 public:
  ShortGemm(const MatmulSizes& sizes, int threads, cpu::Caches caches = {});

  // Or as fast as the library.
  static bool is_faster(const MatmulSizes& sizes, const MatmulFlags& flags);

  int64_t scratch_bytes() const;
  // All of the planned k.
  void run(const KernelRun& run) const;

 private:
  static constexpr int64_t kPieceRows = 96, kRowsAtATime = 24;  // multiples of a tile's

  void multiply_block(const KernelRun& run, Share rows, Share columns, float* room) const;
  // Of a block, not more than kPieceRows.
  void multiply(const KernelRun& run, Share rows, Share columns, float* room) const;
  int64_t room_bytes() const;  // of one thread

  MatmulSizes sizes_;
  const cpu::GemmLoops<float>* loops_;
  int threads_;
  bool copies_;
  int64_t block_;  // columns of b that are multiplied by all rows before the others
};

}  // namespace martello::internal
