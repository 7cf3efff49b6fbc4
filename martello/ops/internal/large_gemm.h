#pragma once
#include <martello/ops/internal/gemm_loops.h>
#include <martello/ops/internal/matmul_factors.h>

// Note [Large products]: every thread has columns of its own and takes them panel by panel: the rows of b that a panel
// needs are packed where the second cache keeps them, by the first tile as it reads them (a transposed b before that),
// and all rows of a go past. No thread waits for another's panels. The column strips at the border of two shares are
// cut by rows, so that shares are even whatever the width. Sums are chains along k (GemmTask), so the bits depend on no
// cut.
namespace martello::internal {

class LargeGemm {
 public:
  LargeGemm(const MatmulSizes& sizes, const MatmulFlags& flags, int threads);

  // Where it beats the library: large f32 matrices, none of them narrow, at the level that has been measured.
  static bool is_faster(const MatmulSizes& sizes);
  static bool is_possible(const MatmulSizes& sizes) { return sizes.batch.empty() && sizes.k > 0; }

  int64_t scratch_bytes() const;
  // All of the planned k.
  void run(const KernelRun& run) const;

 private:
  struct Part {
    int64_t first_row, last_row, first_column, last_column;
  };
  cpu::GemmTask<float> whole_task(const KernelRun& run) const;
  void share(const cpu::GemmTask<float>& all, int64_t i, int64_t shares, float* panel) const;
  void multiply(const cpu::GemmTask<float>& all, const Part& part, float* panel) const;
  void multiply_panel(cpu::GemmTask<float> task, const Part& part, int64_t column, int64_t depth, float* panel) const;

  static constexpr int64_t kMostDepth = 768;  // rows of a panel
  static constexpr int64_t kStrip = 16;       // columns; a multiple of any vector's
  MatmulSizes sizes_;
  MatmulFlags flags_;
  UprightA upright_;
  const cpu::GemmLoops<float>* loops_;
  cpu::TransposeLoop transpose_;
  int threads_;
  int64_t depth_;
};

}  // namespace martello::internal
