#include <martello/ops/internal/conv_winograd.h>
#include <martello/ops/internal/winograd_parts.h>

namespace martello::internal {
namespace {

using cpu::kWinogradPoints;
using cpu::WinogradImages;
using cpu::WinogradKernel;

// dw: for each of the 36 points a product of the tiles of x, transposed, and those of dy.
class WinogradKernelGradient {
 public:
  explicit WinogradKernelGradient(const ConvProblem& p) {
    x_ = images_of(p.axes, false, p.in_channels);
    y_ = images_of(p.axes, true, p.out_channels);
    set_tiles(x_, y_, p.axes[0].before, p.axes[1].before);
    tiles_ = tiles_of(p, y_);
    kernel_ = {x_.channels, y_.channels, y_.channels, plane_of(checked_mul(x_.channels, y_.channels))};
    // The sums are read and written once per block.
    constexpr int64_t kCache = 4 << 20;
    const int64_t sums = planes_of(kernel_.plane) * int64_t{sizeof(float)};
    const int64_t tile = kWinogradPoints * int64_t{sizeof(float)} * (x_.channels + y_.channels);
    block_ = std::min(tiles_, std::max(kBlockTiles, std::max(kCache, 2 * sums) / tile / kBlockTiles * kBlockTiles));
    zeros_ = parts_.add(std::max(x_.channels, y_.channels));
    points_ = parts_.add(planes_of(kernel_.plane));
    data_ = parts_.add(planes_of(x_plane()));
    gradients_ = parts_.add(planes_of(y_plane()));
  }

  int64_t scratch_bytes() const { return parts_.bytes(); }

  void run(const KernelRun& run) const {
    constexpr int64_t kRows = 8;
    float* scratch = reinterpret_cast<float*>(run.scratch);
    std::fill_n(scratch + zeros_, std::max(x_.channels, y_.channels), 0.0f);
    for (int64_t first = 0; first < tiles_; first += block_) add_block(run, scratch, first);
    const int threads = kernel_.plane > 4096 ? run.threads : 1;
    for_blocks(threads, 0, kernel_.rows, kRows, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row)
        winograd_loops().join_kernel(kernel_, row, scratch + points_, run.out<float>(0).data());
    });
  }

 private:
  int64_t x_plane() const { return plane_of(checked_mul(block_, x_.channels)); }
  int64_t y_plane() const { return plane_of(checked_mul(block_, y_.channels)); }

  void add_block(const KernelRun& run, float* scratch, int64_t first) const {
    constexpr int64_t kTiles = 16, kRows = 48;
    const int64_t last = std::min(tiles_, first + block_);
    WinogradImages x = x_, y = y_;
    x.zeros = y.zeros = scratch + zeros_;
    for_blocks(run.threads, first, last, kTiles, [&](int64_t from, int64_t to) {
      float* data = scratch + data_ + (from - first) * x.channels;
      float* gradients = scratch + gradients_ + (from - first) * y.channels;
      winograd_loops().split(x, run.in<float>(0).data(), {from, to, data, x_plane()});
      winograd_loops().spread(y, run.in<float>(1).data(), {from, to, gradients, y_plane()});
    });
    const int64_t rows = ceil_div(x_.channels, kRows);
    parallel_for(run.threads, kWinogradPoints * rows, [&](int64_t i) {
      const int64_t row = i % rows * kRows;
      add_products(scratch, i / rows, row, std::min(x_.channels, row + kRows), last - first, first > 0);
    });
  }

  void add_products(float* scratch, int64_t e, int64_t row, int64_t last_row, int64_t count, bool adds) const {
    cpu::gemm_loops<float>().rows({.a = scratch + data_ + e * x_plane(),
                                   .a_row = 1,
                                   .a_column = x_.channels,
                                   .b = scratch + gradients_ + e * y_plane(),
                                   .b_row = y_.channels,
                                   .is_packed = false,
                                   .y = scratch + points_ + e * kernel_.plane,
                                   .y_row = y_.channels,
                                   .bias = nullptr,
                                   .relu = false,
                                   .k = count,
                                   .first_row = row,
                                   .last_row = last_row,
                                   .first_column = 0,
                                   .last_column = y_.channels,
                                   .adds = adds});
  }

  WinogradImages x_ = {}, y_ = {};
  WinogradKernel kernel_ = {};
  int64_t tiles_ = 0, block_ = 0;
  ScratchParts parts_;
  int64_t zeros_ = 0, points_ = 0, data_ = 0, gradients_ = 0;
};

}  // namespace

Kernel winograd_kernel_gradient(const ConvProblem& p) { return winograd_kernel_of(WinogradKernelGradient(p)); }

}  // namespace martello::internal
