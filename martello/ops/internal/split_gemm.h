#pragma once
#include <martello/base/threads.h>
#include <martello/kernel/cpu/caches.h>
#include <martello/ops/internal/gemm_loops.h>
#include <martello/ops/internal/matmul_plan.h>

// Note [Split products]: a product of few rows with a large b, as that of a layer for a small batch, where b is what
// moves. It is cut into an upper and a lower half of rows, as they lie in memory, and y into a left and a right half of
// columns. First come upper times right and lower times left, then upper times left and lower times right, which go on
// with the sums of the others. So a thread reads one part of b only, the one that it has as its share of ShortGemm and
// of the update, and where cores do not share a cache only y moves. Sums of the left half are chains that begin in the
// middle of k, however many threads there are. Each row of b lies on a page of its own, or nearly so. Where that is
// slow the first rows of a put what they read of it where the others find it together (GemmTask::kept).
namespace martello::internal {

class SplitGemm {
 public:
  SplitGemm(const MatmulSizes& sizes, const MatmulFlags& flags, int threads, cpu::Caches caches = {});

  // Or as fast as the library.
  static bool is_faster(const MatmulSizes& sizes, const MatmulFlags& flags);

  int64_t scratch_bytes() const;
  // All of the planned k.
  void run(const KernelRun& run) const;

 private:
  // The share of a thread in one of the two rounds.
  void multiply_share(const KernelRun& run, bool is_second, int thread, int threads) const;
  void multiply(const KernelRun& run, Share rows_of_b, Share columns, bool is_second, float* kept) const;
  int64_t room_bytes() const;  // of one thread

  MatmulSizes sizes_;
  MatmulFlags flags_;
  const cpu::GemmLoops<float>* loops_;
  int threads_;
  bool keeps_b_, asks_for_b_;
};

}  // namespace martello::internal
