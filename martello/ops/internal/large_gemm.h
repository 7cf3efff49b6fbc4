#pragma once
#include <martello/ops/internal/gemm_ahead.h>
#include <martello/ops/internal/matmul_factors.h>

// Note [Large products]: y is cut into panels of columns and those into pieces of rows. A thread has pieces of its own,
// one below the other: the rows of b that a panel needs are packed where the second cache keeps them, by the first tile
// as it reads them (a transposed b before that), and the rows of a go past. A thread that is done early helps the
// others, for which it packs their panel once more. Sums are chains along k (GemmTask), so the bits depend on no cut.
namespace martello::internal {

// A piece of one panel of y.
struct GemmPiece {
  int64_t first_row, rows, first_column, columns;
};

// Takes the elements of a product instead of y.
class GemmSink {
 public:
  virtual ~GemmSink() = default;
  // What take() will use of memory.
  virtual void ask(const GemmPiece& piece, cpu::GemmAhead& ahead) const = 0;
  // `sums`: its rows, `row` apart. Called once for every piece, by several threads at once.
  virtual void take(const GemmPiece& piece, const float* sums, int64_t row) const = 0;
};

class LargeGemm {
 public:
  static constexpr int64_t kMostDepth = 1024;  // rows of a panel

  LargeGemm(const MatmulSizes& sizes, const MatmulFlags& flags, int threads);

  // Where it beats the library: large f32 matrices, none of them narrow, at the level that has been measured. And where
  // it is as fast and gives each thread a share of a layer's matrix: few rows times a large transposed one.
  static bool is_faster(const MatmulSizes& sizes, const MatmulFlags& flags);
  static bool is_possible(const MatmulSizes& sizes) { return sizes.batch.empty() && sizes.k > 0; }

  int64_t scratch_bytes() const;
  // All of the planned k. Into run.out(0), or into the sink: then k is at most kMostDepth, so that no sum has two
  // parts.
  void run(const KernelRun& run, const GemmSink* sink = nullptr) const;

 private:
  static constexpr int64_t kPieceRows = 48;    // a multiple of a tile's
  static constexpr int64_t kWidestPanel = 64;  // of all levels
  static constexpr int64_t kAskingPieces = 4;  // the last ones of a panel: earlier lines would be pushed out again

  // What a thread has packed, and sums for a sink.
  struct alignas(64) Room {
    int64_t packed;  // number of the panel
    alignas(64) float sums[kPieceRows * kWidestPanel];
    float* panel() { return reinterpret_cast<float*>(this + 1); }
  };
  int64_t room_bytes() const;
  Room& room(const KernelRun& run, int thread) const;
  cpu::GemmTask<float> whole_task(const KernelRun& run) const;
  // Adds the products of rows [first, first + depth_) of b.
  void multiply(const KernelRun& run, int64_t first, const GemmSink* sink) const;
  void multiply_piece(cpu::GemmTask<float> task, const GemmSink* sink, int64_t panel, int64_t piece, Room& room) const;
  // Where the piece finds b.
  void set_b(cpu::GemmTask<float>& task, int64_t panel, Room& room) const;
  // What the next panel reads of b, as far as this piece asks for it.
  void ask_for_b(const cpu::GemmTask<float>& task, int64_t panel, int64_t piece, cpu::GemmAhead& next) const;
  void pack_transposed(const float* b, int64_t depth, int64_t columns, Room& room) const;

  MatmulSizes sizes_;
  MatmulFlags flags_;
  UprightA upright_;
  const cpu::GemmLoops<float>* loops_;
  cpu::TransposeLoop transpose_;
  int threads_;
  int64_t depth_;
};

}  // namespace martello::internal
