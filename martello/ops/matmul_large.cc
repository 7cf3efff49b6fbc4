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

bool LargeGemm::is_faster(const MatmulSizes& s, const MatmulFlags& flags) {
  constexpr double kLarge = 1 << 28;
  constexpr int64_t kNarrow = 128, kFew = 96;
  if (cpu::host_isa() != cpu::Isa::v4 || !is_possible(s)) return false;
  const bool is_large = s.multiplications() > kLarge && s.m >= kNarrow && s.n >= kNarrow && s.k >= kNarrow;
  const bool has_few_rows = flags.transpose_b && !flags.transpose_a && s.m <= kFew;
  return is_large || (has_few_rows && is_large_matrix(s.n, s.k));
}

int64_t LargeGemm::room_bytes() const {
  const int64_t panel = checked_mul(checked_mul(depth_, loops_->panel), int64_t{sizeof(float)});
  return checked_add(align_up(panel, int64_t{alignof(Room)}), int64_t{sizeof(Room)});
}

int64_t LargeGemm::scratch_bytes() const { return checked_add(upright_.bytes(), checked_mul(room_bytes(), threads_)); }

LargeGemm::Room& LargeGemm::room(const KernelRun& run, int thread) const {
  return *reinterpret_cast<Room*>(run.scratch + thread * room_bytes());
}

void LargeGemm::run(const KernelRun& run, const GemmSink* sink) const {
  upright_.run(run, flags_.inputs(), [&](const KernelRun& with_a) {
    for (int64_t first = 0; first < sizes_.k; first += depth_) multiply(with_a, first, sink);
  });
}

cpu::GemmTask<float> LargeGemm::whole_task(const KernelRun& run) const {
  return {.a = run.in<float>(0).data(),
          .a_row = sizes_.k,
          .a_column = 1,
          .b = run.in<float>(1).data(),
          .b_row = sizes_.n,
          .is_packed = false,
          .y = nullptr,
          .y_row = sizes_.n,
          .bias = flags_.has_bias ? run.in<float>(2).data() : nullptr,
          .relu = flags_.relu,
          .k = sizes_.k,
          .first_row = 0,
          .last_row = sizes_.m,
          .first_column = 0,
          .last_column = sizes_.n,
          .addend = flags_.has_addend ? run.in<float>(flags_.addend()).data() : nullptr,
          .asks_for_a = true};
}

void LargeGemm::multiply(const KernelRun& run, int64_t first, const GemmSink* sink) const {
  cpu::GemmTask<float> task = whole_task(run);
  task.k = std::min(depth_, sizes_.k - first);
  const bool is_last = first + task.k == sizes_.k;
  if (!sink) task.y = run.out<float>(0).data();
  task.a += first;
  task.b += flags_.transpose_b ? first : first * sizes_.n;
  task.adds = first > 0;
  task.relu = task.relu && is_last;
  if (!is_last) task.bias = task.addend = nullptr;
  const int threads = std::min(run.threads, threads_);
  for (int i = 0; i < threads; ++i) room(run, i).packed = -1;
  const int64_t panels = ceil_div(sizes_.n, loops_->panel), pieces = ceil_div(sizes_.m, kPieceRows);
  parallel_for(threads, checked_mul(panels, pieces),
               [&](int thread, int64_t i) { multiply_piece(task, sink, i / pieces, i % pieces, room(run, thread)); });
}

void LargeGemm::multiply_piece(cpu::GemmTask<float> task, const GemmSink* sink, int64_t panel, int64_t piece,
                               Room& room) const {
  const int64_t column = panel * loops_->panel, row = piece * kPieceRows;
  const GemmPiece at{row, std::min(kPieceRows, sizes_.m - row), column, std::min(loops_->panel, sizes_.n - column)};
  cpu::GemmAhead next;
  task.ahead = &next;
  if (sink) sink->ask(at, next);
  ask_for_b(task, panel + 1, piece, next);
  set_b(task, panel, room);
  task.a += row * task.a_row;
  task.last_row = at.rows;
  task.last_column = at.columns;
  task.y = sink ? room.sums : task.y + row * task.y_row + column;
  if (task.addend) task.addend += row * task.y_row + column;
  if (sink) task.y_row = loops_->panel;
  if (task.bias) task.bias += column;
  loops_->rows(task);
  if (sink) sink->take(at, room.sums, loops_->panel);
}

void LargeGemm::set_b(cpu::GemmTask<float>& task, int64_t panel, Room& room) const {
  const int64_t column = panel * loops_->panel;
  const bool is_packed = std::exchange(room.packed, panel) == panel;
  if (!is_packed && flags_.transpose_b)
    pack_transposed(task.b + column * sizes_.k, task.k, std::min(loops_->panel, sizes_.n - column), room);
  task.is_packed = is_packed || flags_.transpose_b;
  if (!task.is_packed) task.kept = room.panel();
  task.b = task.is_packed ? room.panel() : task.b + column;
}

void LargeGemm::ask_for_b(const cpu::GemmTask<float>& task, int64_t panel, int64_t piece, cpu::GemmAhead& next) const {
  const int64_t pieces = ceil_div(sizes_.m, kPieceRows), asking = std::min(pieces, kAskingPieces);
  const int64_t column = panel * loops_->panel, part = piece - (pieces - asking);
  if (part < 0 || column >= sizes_.n) return;
  const int64_t width = std::min(loops_->panel, sizes_.n - column), rows = flags_.transpose_b ? width : task.k;
  const int64_t first = rows * part / asking, last = rows * (part + 1) / asking;
  if (flags_.transpose_b) add_ahead(next, task.b + (column + first) * sizes_.k, last - first, sizes_.k, task.k);
  else add_ahead(next, task.b + first * sizes_.n + column, last - first, sizes_.n, width);
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
