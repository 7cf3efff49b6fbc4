#include <martello/base/checked.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/split_gemm.h>

#include <algorithm>

namespace martello::internal {
namespace {

constexpr int64_t kHalves = 2;

// Parts [first, last) of those into which the columns of a half are cut, each in whole lines of memory.
Share columns_of(int64_t n, int64_t half, Share own, int64_t parts) {
  constexpr int64_t kLine = 16;
  const Share all = Share::of(ceil_div(n, kLine), half, kHalves);
  const auto line = [&](int64_t part) { return all.first + Share::of(all.last - all.first, part, parts).first; };
  return {line(own.first) * kLine, std::min(n, line(own.last) * kLine)};
}

}  // namespace

SplitGemm::SplitGemm(const MatmulSizes& sizes, const MatmulFlags& flags, int threads, cpu::Caches caches)
    : sizes_(sizes), flags_(flags), loops_(&cpu::gemm_loops<float>()), threads_(threads) {
  // One tile of rows reads b once, and a narrow b is read as fast as it lies.
  constexpr int64_t kOneTile = 6, kWide = 512;
  keeps_b_ = caches.are_far_rows_slow && sizes.m > kOneTile && sizes.n >= kWide;
  asks_for_b_ = !keeps_b_ && checked_mul(sizes.k, sizes.n) >= caches.last_level_bytes / int64_t{2 * sizeof(float)};
}

bool SplitGemm::is_faster(const MatmulSizes& s, const MatmulFlags& flags) {
  constexpr int64_t kFew = 512, kShort = 256;
  return cpu::host_isa() == cpu::Isa::v4 && s.batch.empty() && !flags.transpose_a && !flags.transpose_b &&
         s.m <= kFew && s.m < s.k && s.k >= kShort && is_large_matrix(s.k, s.n);
}

int64_t SplitGemm::room_bytes() const {
  if (!keeps_b_) return 0;
  return checked_mul(checked_mul(ceil_div(sizes_.k, kHalves), loops_->panel), int64_t{sizeof(float)});
}

int64_t SplitGemm::scratch_bytes() const { return checked_mul(room_bytes(), threads_); }

void SplitGemm::run(const KernelRun& run) const {
  for (bool is_second : {false, true})
    parallel_shares(run.threads, [&](int thread, int threads) { multiply_share(run, is_second, thread, threads); });
}

// Each half of b has as many parts as there are threads, and each thread two of them all.
void SplitGemm::multiply_share(const KernelRun& run, bool is_second, int thread, int threads) const {
  const int64_t first = kHalves * thread, last = first + kHalves;
  float* kept = keeps_b_ ? reinterpret_cast<float*>(run.scratch + thread * room_bytes()) : nullptr;
  for (int64_t half = 0; half < kHalves; ++half) {
    const auto part = [&](int64_t i) { return std::clamp<int64_t>(i - half * threads, 0, threads); };
    const int64_t side = is_second ? half : 1 - half;
    multiply(run, Share::of(sizes_.k, half, kHalves), columns_of(sizes_.n, side, {part(first), part(last)}, threads),
             is_second, kept);
  }
}

void SplitGemm::multiply(const KernelRun& run, Share rows, Share columns, bool is_second, float* kept) const {
  loops_->rows({.a = run.in<float>(0).data() + rows.first,
                .a_row = sizes_.k,
                .a_column = 1,
                .b = run.in<float>(1).data() + rows.first * sizes_.n,
                .b_row = sizes_.n,
                .is_packed = false,
                .y = run.out<float>(0).data(),
                .y_row = sizes_.n,
                .bias = is_second && flags_.has_bias ? run.in<float>(2).data() : nullptr,
                .relu = is_second && flags_.relu,
                .k = rows.last - rows.first,
                .first_row = 0,
                .last_row = sizes_.m,
                .first_column = columns.first,
                .last_column = columns.last,
                .adds = is_second,
                .addend = is_second && flags_.has_addend ? run.in<float>(flags_.addend()).data() : nullptr,
                .kept = kept,
                .asks_for_b = asks_for_b_});
}

}  // namespace martello::internal
