#pragma once
#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/conv_attrs.h>
#include <martello/ops/internal/conv_winograd.h>
#include <martello/ops/internal/gemm_loops.h>
#include <martello/ops/internal/winograd_loops.h>

#include <algorithm>

// What the directions of Winograd's algorithm share. See Note [Winograd].
namespace martello::internal {

// Rows of a product that stay in the first cache beside a panel; a multiple of what one loop of gemm takes.
inline constexpr int64_t kBlockTiles = 48;
inline constexpr int64_t kLine = 64 / sizeof(float);

inline const cpu::WinogradLoops& winograd_loops() {
  return cpu::of_host_isa(cpu::v2::winograd_loops, cpu::v3::winograd_loops, cpu::v4::winograd_loops);
}

// An odd number of cache lines, so that one place of all 36 planes does not fall into one set of the cache.
inline int64_t plane_of(int64_t elements) {
  const int64_t lines = ceil_div(elements, kLine);
  return checked_mul(lines + 1 - lines % 2, kLine);
}
inline int64_t planes_of(int64_t plane) { return checked_mul(plane, cpu::kWinogradPoints); }

// Hands out parts of the scratch, in floats.
class ScratchParts {
 public:
  int64_t add(int64_t elements) {
    const int64_t at = size_;
    size_ = checked_add(size_, align_up(elements, kLine));
    return at;
  }
  int64_t size() const { return size_; }
  int64_t bytes() const { return checked_mul(size_, int64_t{sizeof(float)}); }

 private:
  int64_t size_ = 0;
};

inline float* floats(const KernelRun& run) { return reinterpret_cast<float*>(run.scratch); }

inline cpu::WinogradImages images_of(const WindowAxis (&axes)[2], bool is_y, int64_t channels) {
  return {.height = is_y ? axes[0].out : axes[0].in,
          .width = is_y ? axes[1].out : axes[1].in,
          .channels = channels,
          .top = 0,
          .left = 0,
          .tile_rows = 0,
          .tile_columns = 0,
          .zeros = nullptr};
}

// Tiles of `result`, whose pixels see those of `source` from (-top, -left) on.
inline void set_tiles(cpu::WinogradImages& source, cpu::WinogradImages& result, int64_t top, int64_t left) {
  source.top = top;
  source.left = left;
  for (cpu::WinogradImages* s : {&source, &result}) {
    s->tile_rows = ceil_div(result.height, cpu::kWinogradTile);
    s->tile_columns = ceil_div(result.width, cpu::kWinogradTile);
  }
}

inline int64_t tiles_of(const ConvProblem& p, const cpu::WinogradImages& s) {
  return checked_mul(p.batch, checked_mul(s.tile_rows, s.tile_columns));
}

template <class F>
void for_blocks(int threads, int64_t first, int64_t last, int64_t block, F f) {
  parallel_for(threads, ceil_div(last - first, block), [&](int64_t i) {
    const int64_t from = first + i * block;
    f(from, std::min(last, from + block));
  });
}

template <class Algorithm>
Kernel winograd_kernel_of(const Algorithm& algorithm) {
  Kernel kernel([algorithm](const KernelRun& run) { algorithm.run(run); });
  return kernel.scratch(algorithm.scratch_bytes()).implementation(kWinogradName);
}

}  // namespace martello::internal
