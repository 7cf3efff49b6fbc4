#include <martello/base/checked.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/short_gemm.h>

#include <algorithm>

namespace martello::internal {

ShortGemm::ShortGemm(const MatmulSizes& sizes, int threads, cpu::Caches caches)
    : sizes_(sizes), loops_(&cpu::gemm_loops<float>()), threads_(threads) {
  constexpr int64_t kFewRows = 64;  // of a panel, that stay in the first cache
  copies_a_ = caches.are_far_rows_slow;
  keeps_b_ = copies_a_ || sizes.k <= kFewRows;
}

bool ShortGemm::is_faster(const MatmulSizes& s, const MatmulFlags& flags) {
  constexpr int64_t kShort = 512;
  return cpu::host_isa() == cpu::Isa::v4 && s.batch.empty() && flags.transpose_a && !flags.transpose_b &&
         !flags.has_bias && s.k <= kShort && is_large_matrix(s.m, s.n);
}

int64_t ShortGemm::room_bytes() const {
  const int64_t columns = (copies_a_ ? kPieceRows : 0) + (keeps_b_ ? loops_->panel : 0);
  return checked_mul(checked_mul(sizes_.k, columns), int64_t{sizeof(float)});
}

int64_t ShortGemm::scratch_bytes() const { return checked_mul(room_bytes(), threads_); }

void ShortGemm::run(const KernelRun& run) const {
  parallel_shares(run.threads, [&](int thread, int threads) {
    const Share rows = Share::of(sizes_.m, thread, threads);
    float* room = reinterpret_cast<float*>(run.scratch + thread * room_bytes());
    for (int64_t first = rows.first; first < rows.last; first += kPieceRows)
      multiply(run, {first, std::min(rows.last, first + kPieceRows)}, room);
  });
}

void ShortGemm::multiply(const KernelRun& run, Share rows, float* room) const {
  const int64_t count = rows.last - rows.first;
  const float* a = run.in<float>(0).data() + rows.first;
  float* copy = room + (keeps_b_ ? sizes_.k * loops_->panel : 0);
  for (int64_t p = 0; copies_a_ && p < sizes_.k; ++p) std::copy_n(a + p * sizes_.m, count, copy + p * kPieceRows);
  loops_->rows({.a = copies_a_ ? copy : a,
                .a_row = 1,
                .a_column = copies_a_ ? kPieceRows : sizes_.m,
                .b = run.in<float>(1).data(),
                .b_row = sizes_.n,
                .is_packed = false,
                .y = run.out<float>(0).data() + rows.first * sizes_.n,
                .y_row = sizes_.n,
                .bias = nullptr,
                .relu = false,
                .k = sizes_.k,
                .first_row = 0,
                .last_row = count,
                .first_column = 0,
                .last_column = sizes_.n,
                .kept = keeps_b_ ? room : nullptr});
}

}  // namespace martello::internal
