#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/short_gemm.h>

#include <algorithm>

namespace martello::internal {

ShortGemm::ShortGemm(const MatmulSizes& sizes) : sizes_(sizes), loops_(&cpu::gemm_loops<float>()) {}

bool ShortGemm::is_faster(const MatmulSizes& s, const MatmulFlags& flags) {
  constexpr int64_t kShort = 512;
  return cpu::host_isa() == cpu::Isa::v4 && s.batch.empty() && flags.transpose_a && !flags.transpose_b &&
         !flags.has_bias && s.k <= kShort && is_large_matrix(s.m, s.n);
}

void ShortGemm::run(const KernelRun& run) const {
  constexpr int64_t kPieceRows = 24;  // a multiple of a tile's, whose columns of b stay in the first cache
  parallel_shares(run.threads, [&](int thread, int threads) {
    const Share rows = Share::of(sizes_.m, thread, threads);
    for (int64_t first = rows.first; first < rows.last; first += kPieceRows)
      multiply(run, {first, std::min(rows.last, first + kPieceRows)});
  });
}

void ShortGemm::multiply(const KernelRun& run, Share rows) const {
  loops_->rows({.a = run.in<float>(0).data(),
                .a_row = 1,
                .a_column = sizes_.m,
                .b = run.in<float>(1).data(),
                .b_row = sizes_.n,
                .is_packed = false,
                .y = run.out<float>(0).data(),
                .y_row = sizes_.n,
                .bias = nullptr,
                .relu = false,
                .k = sizes_.k,
                .first_row = rows.first,
                .last_row = rows.last,
                .first_column = 0,
                .last_column = sizes_.n});
}

}  // namespace martello::internal
