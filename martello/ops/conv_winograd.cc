#include <martello/kernel/cpu/transpose_block.h>
#include <martello/ops/internal/conv_winograd.h>
#include <martello/ops/internal/winograd_parts.h>

namespace martello::internal {
namespace {

using cpu::kWinogradPoints;
using cpu::WinogradImages;
using cpu::WinogradKernel;
using cpu::WinogradTiles;

// y = x * w, or the gradient of x, which is a convolution of dy with the kernel turned and its channels exchanged.
class WinogradForward {
 public:
  WinogradForward(const ConvProblem& p, const WinogradOptions& options, int threads)
      : options_(options), is_grad_(options.direction == ConvDirection::grad_input), strips_(threads) {
    x_ = images_of(p.axes, is_grad_, is_grad_ ? p.out_channels : p.in_channels);
    y_ = images_of(p.axes, !is_grad_, is_grad_ ? p.in_channels : p.out_channels);
    const int64_t top = p.axes[0].before, left = p.axes[1].before;
    set_tiles(x_, y_, is_grad_ ? 2 - top : top, is_grad_ ? 2 - left : left);
    tiles_ = tiles_of(p, y_);
    const int64_t panel = cpu::gemm_loops<float>().panel;
    kernel_ = {x_.channels, y_.channels, panel, plane_of(checked_mul(x_.channels, align_up(y_.channels, panel)))};
    choose_blocks();
    zeros_ = parts_.add(x_.channels);
    taps_ = is_grad_ ? parts_.add(9 * checked_mul(x_.channels, y_.channels)) : 0;
    points_ = parts_.add(planes_of(kernel_.plane));
    data_ = parts_.add(checked_mul(lanes(), planes_of(x_plane())));
    products_ = parts_.add(checked_mul(lanes(), planes_of(y_plane())));
  }

  int64_t scratch_bytes() const { return parts_.bytes(); }

  void run(const KernelRun& run) const {
    float* scratch = reinterpret_cast<float*>(run.scratch);
    std::fill_n(scratch + zeros_, x_.channels, 0.0f);
    prepare_kernel(run, scratch);
    if (is_small_) return run_strips(run, scratch);
    for (int64_t first = 0; first < tiles_; first += block_) run_block(run, scratch, first);
  }

 private:
  // A small kernel's points stay in a core's cache, and so do a few tiles: each thread takes tiles from end to end.
  // Else all threads take one step of many tiles after the other, and the points are read once for them all.
  void choose_blocks() {
    constexpr int64_t kSmallKernel = 768 << 10, kCache = 16 << 20;
    const int64_t kernel_bytes = planes_of(kernel_.plane) * int64_t{sizeof(float)};
    const int64_t tile_bytes = kWinogradPoints * int64_t{sizeof(float)} * (x_.channels + y_.channels);
    is_small_ = kernel_bytes <= kSmallKernel;
    const int64_t bytes = std::max(kCache, 4 * kernel_bytes);
    block_ = is_small_ ? kBlockTiles : std::max(kBlockTiles, bytes / tile_bytes / kBlockTiles * kBlockTiles);
    block_ = std::min(block_, tiles_);
  }
  int64_t lanes() const { return is_small_ ? strips_ : 1; }
  int64_t x_plane() const { return plane_of(checked_mul(block_, x_.channels)); }
  int64_t y_plane() const { return plane_of(checked_mul(block_, y_.channels)); }

  void prepare_kernel(const KernelRun& run, float* scratch) const {
    constexpr int64_t kRows = 8;
    const float* taps = run.in<float>(1).data();
    const int threads = kernel_.plane > 4096 ? run.threads : 1;
    if (is_grad_) {
      const auto transpose =
          cpu::of_host_isa(cpu::v2::transpose_loop, cpu::v3::transpose_loop, cpu::v4::transpose_loop)(4);
      const int64_t rows = x_.channels, columns = y_.channels, size = sizeof(float);
      parallel_for(threads, 9, [&](int64_t tap) {
        transpose({reinterpret_cast<const char*>(taps + tap * rows * columns), rows * size,
                   reinterpret_cast<char*>(scratch + taps_ + tap * rows * columns), columns * size, rows, columns,
                   false});
      });
      taps = scratch + taps_;
    }
    for_blocks(threads, 0, kernel_.rows, kRows, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row)
        winograd_loops().split_kernel(kernel_, row, is_grad_, taps, scratch + points_);
    });
  }

  void run_strips(const KernelRun& run, float* scratch) const {
    const int64_t blocks = ceil_div(tiles_, block_);
    parallel_for(run.threads, strips_, [&](int64_t strip) {
      float* data = scratch + data_ + strip * planes_of(x_plane());
      float* products = scratch + products_ + strip * planes_of(y_plane());
      for (int64_t i = blocks * strip / strips_; i < blocks * (strip + 1) / strips_; ++i) {
        const int64_t first = i * block_, last = std::min(tiles_, first + block_);
        split(run, scratch, {first, last, data, x_plane()});
        for (int64_t e = 0; e < kWinogradPoints; ++e)
          multiply(scratch, e, data, products, {0, last - first, 0, y_.channels});
        join(run, {first, last, products, y_plane()});
      }
    });
  }

  void run_block(const KernelRun& run, float* scratch, int64_t first) const {
    constexpr int64_t kTiles = 16, kRows = 96, kColumns = 256;
    const int64_t last = std::min(tiles_, first + block_), count = last - first;
    float *data = scratch + data_, *products = scratch + products_;
    const auto part = [&](float* planes, int64_t plane, int64_t channels, int64_t from, int64_t to) {
      return WinogradTiles{from, to, planes + (from - first) * channels, plane};
    };
    for_blocks(run.threads, first, last, kTiles,
               [&](int64_t from, int64_t to) { split(run, scratch, part(data, x_plane(), x_.channels, from, to)); });
    const int64_t rows = ceil_div(count, kRows), columns = ceil_div(y_.channels, kColumns);
    parallel_for(run.threads, kWinogradPoints * rows * columns, [&](int64_t i) {
      const int64_t row = i % rows * kRows, column = i / rows % columns * kColumns;
      multiply(scratch, i / rows / columns, data, products,
               {row, std::min(count, row + kRows), column, std::min(y_.channels, column + kColumns)});
    });
    for_blocks(run.threads, first, last, kTiles,
               [&](int64_t from, int64_t to) { join(run, part(products, y_plane(), y_.channels, from, to)); });
  }

  void split(const KernelRun& run, const float* scratch, const WinogradTiles& tiles) const {
    WinogradImages x = x_;
    x.zeros = scratch + zeros_;
    winograd_loops().split(x, run.in<float>(0).data(), tiles);
  }

  struct Part {
    int64_t first_row, last_row, first_column, last_column;
  };
  void multiply(const float* scratch, int64_t e, const float* data, float* products, const Part& part) const {
    cpu::gemm_loops<float>().rows({.a = data + e * x_plane(),
                                   .a_row = x_.channels,
                                   .a_column = 1,
                                   .b = scratch + points_ + e * kernel_.plane,
                                   .b_row = 0,
                                   .is_packed = true,
                                   .y = products + e * y_plane(),
                                   .y_row = y_.channels,
                                   .bias = nullptr,
                                   .relu = false,
                                   .k = x_.channels,
                                   .first_row = part.first_row,
                                   .last_row = part.last_row,
                                   .first_column = part.first_column,
                                   .last_column = part.last_column});
  }

  void join(const KernelRun& run, const WinogradTiles& tiles) const {
    const float* bias = options_.has_bias ? run.in<float>(2).data() : nullptr;
    winograd_loops().join(y_, tiles, bias, options_.relu, run.out<float>(0).data());
  }

  WinogradOptions options_;
  bool is_grad_, is_small_ = false;
  int strips_;
  WinogradImages x_ = {}, y_ = {};
  WinogradKernel kernel_ = {};
  int64_t tiles_ = 0, block_ = 0;
  ScratchParts parts_;
  int64_t zeros_ = 0, taps_ = 0, points_ = 0, data_ = 0, products_ = 0;
};

}  // namespace

bool is_for_winograd(const ConvProblem& p) {
  const auto fits = [](const WindowAxis& a) { return a.window == 3 && a.stride == 1 && a.dilation == 1; };
  return p.dtype == f32 && p.format == DataFormat::nhwc && p.groups == 1 && fits(p.axes[0]) && fits(p.axes[1]) &&
         !p.has_no_elements();
}

bool is_winograd_faster(const ConvProblem& p, ConvDirection) {
  // Below level v3 there is no fused multiply-add to run its loops.
  if (!is_for_winograd(p) || cpu::host_isa() == cpu::Isa::v2) return false;
  constexpr int64_t kFewestChannels = 16, kFewestTiles = 32;
  constexpr double kFewestUsed = 0.6;  // of the pixels of tiles
  double used = 1;
  int64_t tiles = p.batch;
  for (const WindowAxis& a : p.axes) {
    const int64_t along = ceil_div(a.out, cpu::kWinogradTile);
    used *= static_cast<double>(a.out) / static_cast<double>(along * cpu::kWinogradTile);
    tiles = checked_mul(tiles, along);
  }
  return std::min(p.in_channels, p.out_channels) >= kFewestChannels && tiles >= kFewestTiles && used >= kFewestUsed;
}

Kernel winograd_kernel(const KernelPlan& plan, const ConvProblem& p, const WinogradOptions& options) {
  if (options.direction == ConvDirection::grad_kernel) return winograd_kernel_gradient(p);
  return winograd_kernel_of(WinogradForward(p, options, plan.threads));
}

}  // namespace martello::internal
