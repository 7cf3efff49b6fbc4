#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/large_gemm.h>

#include <utility>

namespace martello::internal {

LargeGemm::LargeGemm(const MatmulSizes& sizes, const MatmulFlags& flags, int threads)
    : sizes_(sizes),
      flags_(flags),
      upright_(sizes, sizeof(float), flags.transpose_a),
      loops_(&cpu::gemm_loops<float>()),
      transpose_(
          cpu::of_host_isa(cpu::v2::transpose_loop, cpu::v3::transpose_loop, cpu::v4::transpose_loop)(sizeof(float))),
      threads_(threads) {
  depth_ = ceil_div(sizes.k, ceil_div(sizes.k, kMostDepth));
}

bool LargeGemm::is_faster(const MatmulSizes& s) {
  constexpr double kLarge = 1 << 28;
  constexpr int64_t kNarrow = 128;
  return cpu::host_isa() == cpu::Isa::v4 && is_possible(s) && s.multiplications() > kLarge && s.m >= kNarrow &&
         s.n >= kNarrow && s.k >= kNarrow;
}

int64_t LargeGemm::room_bytes() const {
  const int64_t panel = checked_mul(checked_mul(depth_, loops_->panel), int64_t{sizeof(float)});
  return checked_add(align_up(panel, int64_t{alignof(Room)}), int64_t{sizeof(Room)});
}

int64_t LargeGemm::scratch_bytes() const { return checked_add(upright_.bytes(), checked_mul(room_bytes(), threads_)); }

LargeGemm::Room& LargeGemm::room(const KernelRun& run, int thread) const {
  return *reinterpret_cast<Room*>(run.scratch + thread * room_bytes());
}

void LargeGemm::run(const KernelRun& run) const {
  upright_.run(run, flags_.has_bias, [&](const KernelRun& with_a) {
    for (int64_t first = 0; first < sizes_.k; first += depth_) multiply(with_a, first);
  });
}

cpu::GemmTask<float> LargeGemm::whole_task(const KernelRun& run) const {
  return {.a = run.in<float>(0).data(),
          .a_row = sizes_.k,
          .a_column = 1,
          .b = run.in<float>(1).data(),
          .b_row = sizes_.n,
          .is_packed = false,
          .y = run.out<float>(0).data(),
          .y_row = sizes_.n,
          .bias = flags_.has_bias ? run.in<float>(2).data() : nullptr,
          .relu = flags_.relu,
          .k = sizes_.k,
          .first_row = 0,
          .last_row = sizes_.m,
          .first_column = 0,
          .last_column = sizes_.n};
}

void LargeGemm::multiply(const KernelRun& run, int64_t first) const {
  cpu::GemmTask<float> task = whole_task(run);
  task.k = std::min(depth_, sizes_.k - first);
  const bool is_last = first + task.k == sizes_.k;
  task.a += first;
  task.b += flags_.transpose_b ? first : first * sizes_.n;
  task.adds = first > 0;
  task.relu = task.relu && is_last;
  if (!is_last) task.bias = nullptr;
  const int threads = std::min(run.threads, threads_);
  for (int i = 0; i < threads; ++i) room(run, i).packed = -1;
  const int64_t panels = ceil_div(sizes_.n, loops_->panel), pieces = ceil_div(sizes_.m, kPieceRows);
  parallel_for(threads, checked_mul(panels, pieces),
               [&](int thread, int64_t i) { multiply_piece(task, i / pieces, i % pieces, room(run, thread)); });
}

void LargeGemm::multiply_piece(cpu::GemmTask<float> task, int64_t panel, int64_t piece, Room& room) const {
  const int64_t column = panel * loops_->panel;
  const bool is_packed = std::exchange(room.packed, panel) == panel;
  task.first_row = piece * kPieceRows;
  task.last_row = std::min(sizes_.m, task.first_row + kPieceRows);
  task.y += column;
  if (task.bias) task.bias += column;
  cpu::GemmAhead next = ahead(task, panel + 1, piece);
  task.ahead = &next;
  task.last_column = std::min(loops_->panel, sizes_.n - column);
  if (!is_packed && flags_.transpose_b) pack_transposed(task.b + column * sizes_.k, task.k, task.last_column, room);
  task.is_packed = is_packed || flags_.transpose_b;
  if (!task.is_packed) task.kept = room.panel();
  task.b = task.is_packed ? room.panel() : task.b + column;
  loops_->rows(task);
}

cpu::GemmAhead LargeGemm::ahead(const cpu::GemmTask<float>& task, int64_t panel, int64_t piece) const {
  const int64_t pieces = ceil_div(sizes_.m, kPieceRows), asking = std::min(pieces, kAskingPieces);
  const int64_t column = panel * loops_->panel, part = piece - (pieces - asking);
  cpu::GemmAhead next;
  if (part < 0 || column >= sizes_.n) return next;
  const int64_t width = std::min(loops_->panel, sizes_.n - column), rows = flags_.transpose_b ? width : task.k;
  const int64_t first = rows * part / asking, last = rows * (part + 1) / asking;
  if (flags_.transpose_b) add_ahead(next, task.b + (column + first) * sizes_.k, last - first, sizes_.k, task.k);
  else add_ahead(next, task.b + first * sizes_.n + column, last - first, sizes_.n, width);
  return next;
}

void LargeGemm::pack_transposed(const float* b, int64_t depth, int64_t columns, Room& room) const {
  constexpr int64_t kBytes = sizeof(float);
  if (columns < loops_->panel) std::fill_n(room.panel(), depth * loops_->panel, 0.0F);
  transpose_({.src = reinterpret_cast<const char*>(b),
              .src_stride = sizes_.k * kBytes,
              .dst = reinterpret_cast<char*>(room.panel()),
              .dst_stride = loops_->panel * kBytes,
              .rows = depth,
              .columns = columns,
              .streaming = false});
}

}  // namespace martello::internal
