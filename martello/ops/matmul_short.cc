#include <martello/base/checked.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/short_gemm.h>

#include <algorithm>

namespace martello::internal {

ShortGemm::ShortGemm(const MatmulSizes& sizes, int threads, cpu::Caches caches)
    : sizes_(sizes), loops_(&cpu::gemm_loops<float>()), threads_(threads) {
  constexpr int64_t kFewRows = 64;            // of a and b, whose copies cost nothing
  constexpr int64_t kBlockBytes = 512 << 10;  // of b, that stay in the second
  const int64_t panel = checked_mul(checked_mul(sizes.k, loops_->panel), int64_t{sizeof(float)});
  copies_ = caches.are_far_rows_slow || sizes.k <= kFewRows ||
            cpu::do_lines_collide(sizes.k, checked_mul(sizes.m, int64_t{sizeof(float)}));
  block_ = align_up(sizes.n, loops_->panel);
  if (copies_) block_ = std::min(block_, std::max<int64_t>(kBlockBytes / panel, 1) * loops_->panel);
}

bool ShortGemm::is_faster(const MatmulSizes& s, const MatmulFlags& flags) {
  constexpr int64_t kShort = 512;
  return cpu::host_isa() == cpu::Isa::v4 && s.batch.empty() && flags.transpose_a && !flags.transpose_b &&
         !flags.has_bias && !flags.has_addend && s.k <= kShort && s.k < s.m && is_large_matrix(s.m, s.n);
}

int64_t ShortGemm::room_bytes() const {
  const int64_t columns = copies_ ? kPieceRows + block_ : 0;
  return checked_mul(checked_mul(sizes_.k, columns), int64_t{sizeof(float)});
}

int64_t ShortGemm::scratch_bytes() const { return checked_mul(room_bytes(), threads_); }

void ShortGemm::run(const KernelRun& run) const {
  parallel_shares(run.threads, [&](int thread, int threads) {
    const Share rows = Share::of(sizes_.m, thread, threads);
    float* room = reinterpret_cast<float*>(run.scratch + thread * room_bytes());
    for (int64_t column = 0; column < sizes_.n && rows.first < rows.last; column += block_)
      multiply_block(run, rows, {column, std::min(sizes_.n, column + block_)}, room);
  });
}

void ShortGemm::multiply_block(const KernelRun& run, Share rows, Share columns, float* room) const {
  const float* b = run.in<float>(1).data();
  for (int64_t column = columns.first; copies_ && column < columns.last; column += loops_->panel)
    loops_->pack(b + column, sizes_.n, 1, sizes_.k, std::min(loops_->panel, columns.last - column),
                 room + (column - columns.first) * sizes_.k);
  for (int64_t first = rows.first; first < rows.last; first += kPieceRows)
    multiply(run, {first, std::min(rows.last, first + kPieceRows)}, columns, room);
}

void ShortGemm::multiply(const KernelRun& run, Share rows, Share columns, float* room) const {
  const int64_t count = rows.last - rows.first, m = sizes_.m, k = sizes_.k;
  const float* a = run.in<float>(0).data() + rows.first;
  float* copy = copies_ ? room + block_ * k : nullptr;
  for (int64_t p = 0; copies_ && p < k; ++p) std::copy_n(a + p * m, count, copy + p * kPieceRows);
  cpu::GemmTask<float> task{.a = copies_ ? copy : a,
                            .a_row = 1,
                            .a_column = copies_ ? kPieceRows : m,
                            .b = copies_ ? room : run.in<float>(1).data() + columns.first,
                            .b_row = sizes_.n,
                            .is_packed = copies_,
                            .y = run.out<float>(0).data() + rows.first * sizes_.n + columns.first,
                            .y_row = sizes_.n,
                            .bias = nullptr,
                            .relu = false,
                            .k = k,
                            .first_row = 0,
                            .last_row = count,
                            .first_column = 0,
                            .last_column = columns.last - columns.first};
  for (const int64_t step = copies_ ? kRowsAtATime : count; task.first_row < count; task.first_row = task.last_row) {
    task.last_row = std::min(count, task.first_row + step);
    loops_->rows(task);
  }
}

}  // namespace martello::internal
