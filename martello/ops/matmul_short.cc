#include <martello/base/checked.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/short_gemm.h>

#include <algorithm>

namespace martello::internal {

ShortGemm::ShortGemm(const MatmulSizes& sizes, int threads)
    : sizes_(sizes), loops_(&cpu::gemm_loops<float>()), threads_(threads) {}

bool ShortGemm::is_faster(const MatmulSizes& s, const MatmulFlags& flags) {
  constexpr int64_t kShort = 512;
  return cpu::host_isa() == cpu::Isa::v4 && s.batch.empty() && flags.transpose_a && !flags.transpose_b &&
         !flags.has_bias && s.k <= kShort && is_large_matrix(s.m, s.n);
}

int64_t ShortGemm::room_bytes() const {
  return checked_mul(checked_mul(sizes_.k, kPieceRows + loops_->panel), int64_t{sizeof(float)});
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
  for (int64_t p = 0; p < sizes_.k; ++p) std::copy_n(a + p * sizes_.m, count, room + p * kPieceRows);
  loops_->rows({.a = room,
                .a_row = 1,
                .a_column = kPieceRows,
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
                .kept = room + sizes_.k * kPieceRows});
}

}  // namespace martello::internal
