#include <martello/kernel/cpu/onednn.h>
#include <martello/kernel/cpu/transpose_block.h>
#include <martello/ops/internal/conv_winograd.h>
#include <martello/ops/internal/winograd_parts.h>

namespace martello::internal {
namespace {

using cpu::kWinogradPoints;
using cpu::WinogradImages;
using cpu::WinogradKernel;
using cpu::WinogradTiles;

// y = x * w, or the gradient of x, which is a convolution of dy with the kernel turned and its channels exchanged: what
// comes before and after the 36 products of tiles and kernel.
class WinogradForward {
 public:
  // `is_pooled`: of y only the largest of each 2x2 pixels are wanted.
  WinogradForward(const ConvProblem& p, const ConvTask& task, bool is_pooled)
      : task_(task), is_grad_(task.direction == ConvDirection::grad_input), is_pooled_(is_pooled) {
    x_ = images_of(p.axes, is_grad_, is_grad_ ? p.out_channels : p.in_channels);
    y_ = images_of(p.axes, !is_grad_, is_grad_ ? p.in_channels : p.out_channels);
    const int64_t top = p.axes[0].before, left = p.axes[1].before;
    set_tiles(x_, y_, is_grad_ ? 2 - top : top, is_grad_ ? 2 - left : left);
    tiles_ = tiles_of(p, y_);
  }

  // Of the 36 numbers per pair of channels.
  int64_t kernel_bytes() const {
    return checked_mul(planes_of(checked_mul(x_.channels, y_.channels)), int64_t{sizeof(float)});
  }
  int64_t scratch_bytes() const { return parts_.bytes(); }

 protected:
  // `lanes` blocks of tiles are under way at once, each with a kernel of its own; it lies in panels of so many columns.
  void set_blocks(int64_t block, int64_t lanes, int64_t panel) {
    block_ = std::min(block, tiles_);
    kernel_ = {x_.channels, y_.channels, panel, plane_of(checked_mul(x_.channels, align_up(y_.channels, panel)))};
    ScratchParts own;
    zeros_ = own.add(x_.channels);
    taps_ = is_grad_ ? own.add(9 * checked_mul(x_.channels, y_.channels)) : 0;
    points_ = own.add(planes_of(kernel_.plane));
    own_size_ = own.size();
    own_ = parts_.add(checked_mul(lanes, own_size_));
    data_ = parts_.add(checked_mul(lanes, planes_of(x_plane())));
    products_ = parts_.add(checked_mul(lanes, planes_of(y_plane())));
  }
  int64_t x_plane() const { return plane_of(checked_mul(block_, x_.channels)); }
  int64_t y_plane() const { return plane_of(checked_mul(block_, y_.channels)); }

  // What lane `lane` needs of the kernel.
  void prepare(const KernelRun& run, int64_t lane, int threads) const {
    constexpr int64_t kRows = 8;
    float* own = own_part(run, lane);
    std::fill_n(own + zeros_, x_.channels, 0.0f);
    if (is_grad_) transpose_taps(run.in<float>(1).data(), own + taps_, threads);
    const float* taps = is_grad_ ? own + taps_ : run.in<float>(1).data();
    for_blocks(threads, 0, kernel_.rows, kRows, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row)
        winograd_loops().split_kernel(kernel_, row, is_grad_, taps, own + points_);
    });
  }
  float* points(const KernelRun& run, int64_t lane) const { return own_part(run, lane) + points_; }

  void split(const KernelRun& run, int64_t lane, const WinogradTiles& tiles) const {
    WinogradImages x = x_;
    x.zeros = own_part(run, lane) + zeros_;
    winograd_loops().split(x, run.in<float>(0).data(), tiles);
  }
  void join(const KernelRun& run, const WinogradTiles& tiles) const {
    const float* bias = task_.has_bias ? run.in<float>(2).data() : nullptr;
    const float* addend = task_.has_addend ? run.in<float>(task_.addend()).data() : nullptr;
    float* y = run.out<float>(0).data();
    if (is_pooled_) winograd_loops().join_pooled(y_, tiles, bias, task_.relu, y);
    else winograd_loops().join(y_, tiles, bias, addend, task_.relu, y);
  }

  ConvTask task_;
  bool is_grad_, is_pooled_;
  WinogradImages x_ = {}, y_ = {};
  WinogradKernel kernel_ = {};
  int64_t tiles_ = 0, block_ = 0;
  ScratchParts parts_;
  int64_t data_ = 0, products_ = 0;

 private:
  float* own_part(const KernelRun& run, int64_t lane) const { return floats(run) + own_ + lane * own_size_; }

  void transpose_taps(const float* from, float* to, int threads) const {
    const auto transpose =
        cpu::of_host_isa(cpu::v2::transpose_loop, cpu::v3::transpose_loop, cpu::v4::transpose_loop)(4);
    const int64_t rows = x_.channels, columns = y_.channels, size = sizeof(float);
    parallel_for(threads, 9, [&](int64_t tap) {
      transpose({reinterpret_cast<const char*>(from + tap * rows * columns), rows * size,
                 reinterpret_cast<char*>(to + tap * rows * columns), columns * size, rows, columns, false});
    });
  }

  int64_t own_ = 0, own_size_ = 0;             // of the scratch: where the lanes' own parts begin, and of each
  int64_t zeros_ = 0, taps_ = 0, points_ = 0;  // within one
};

// A small kernel's points stay in a core's cache, and so do a few tiles: each thread takes tiles from end to end, and
// makes the points itself, which takes less time than to fetch them from another core.
class WinogradStrips : public WinogradForward {
 public:
  WinogradStrips(const WinogradForward& problem, int threads) : WinogradForward(problem), strips_(threads) {
    set_blocks(kBlockTiles, strips_, std::min(cpu::gemm_loops<float>().panel, align_up(y_.channels, kLine)));
  }

  void run(const KernelRun& run) const {
    parallel_for(run.threads, strips_, [&](int64_t strip) {
      const Share own = Share::of(tiles_, strip, strips_);
      if (own.first < own.last) prepare(run, strip, 1);
      for (int64_t first = own.first; first < own.last; first += block_)
        run_block(run, strip, first, std::min(own.last, first + block_));
    });
  }

 private:
  void run_block(const KernelRun& run, int64_t strip, int64_t first, int64_t last) const {
    float* data = floats(run) + data_ + strip * planes_of(x_plane());
    float* products = floats(run) + products_ + strip * planes_of(y_plane());
    split(run, strip, {first, last, data, x_plane()});
    for (int64_t e = 0; e < kWinogradPoints; ++e)
      multiply(data + e * x_plane(), points(run, strip) + e * kernel_.plane, products + e * y_plane(), last - first);
    join(run, {first, last, products, y_plane()});
  }

  void multiply(const float* data, const float* points, float* products, int64_t tiles) const {
    cpu::gemm_loops<float>().rows({.a = data,
                                   .a_row = x_.channels,
                                   .a_column = 1,
                                   .b = points,
                                   .b_row = kernel_.panel,
                                   .is_packed = y_.channels > kernel_.panel,
                                   .y = products,
                                   .y_row = y_.channels,
                                   .bias = nullptr,
                                   .relu = false,
                                   .k = x_.channels,
                                   .first_row = 0,
                                   .last_row = tiles,
                                   .first_column = 0,
                                   .last_column = y_.channels});
  }

  int strips_;
};

// A large kernel's points are read once for many tiles: all threads take one step of them after the other, and the
// products are the library's.
class WinogradBlocks : public WinogradForward {
 public:
  WinogradBlocks(const KernelPlan& plan, const WinogradForward& problem) : WinogradForward(problem) {
    constexpr int64_t kCache = 16 << 20;
    const int64_t tile_bytes = kWinogradPoints * int64_t{sizeof(float)} * (x_.channels + y_.channels);
    const int64_t tiles = std::max(kCache, 4 * kernel_bytes()) / tile_bytes;
    set_blocks(std::max(kBlockTiles, tiles / kBlockTiles * kBlockTiles), 1, y_.channels);
    whole_ = multiplication(plan, block_);
    last_ = multiplication(plan, (tiles_ - 1) % block_ + 1);
    const int64_t library_bytes = std::max(whole_.scratch_bytes(), last_.scratch_bytes());
    library_ = parts_.add(ceil_div(library_bytes, int64_t{sizeof(float)}));
  }

  // The products of a block of tiles, and of the last one, which may have fewer.
  struct Calls {
    explicit Calls(const WinogradBlocks& w) : whole(w.call(w.whole_)), last(w.call(w.last_)) {}
    onednn::Call whole, last;
  };
  void run(const KernelRun& run, Calls& calls) const {
    prepare(run, 0, run.threads);
    for (int64_t first = 0; first < tiles_; first += block_)
      run_block(run, first, first + block_ < tiles_ ? calls.whole : calls.last);
  }

 private:
  // Of so many tiles and the kernel, one product for each of the 36 points.
  onednn::Primitive multiplication(const KernelPlan& plan, int64_t tiles) const {
    const auto matrices = [](int64_t rows, int64_t columns, int64_t plane) {
      return onednn::Layout({kWinogradPoints, rows, columns}, {plane, columns, 1}, f32);
    };
    return onednn::make_matmul(plan.op,
                               {.a = matrices(tiles, x_.channels, x_plane()),
                                .b = matrices(x_.channels, y_.channels, kernel_.plane),
                                .y = matrices(tiles, y_.channels, y_plane())},
                               plan.threads);
  }
  static onednn::Call call(const onednn::Primitive& multiplication) {
    return onednn::Call(multiplication, {onednn::Role::src, onednn::Role::weights, onednn::Role::dst});
  }

  void run_block(const KernelRun& run, int64_t first, onednn::Call& multiply) const {
    constexpr int64_t kTiles = 16;
    const int64_t last = std::min(tiles_, first + block_);
    float *data = floats(run) + data_, *products = floats(run) + products_;
    for_blocks(run.threads, first, last, kTiles, [&](int64_t from, int64_t to) {
      split(run, 0, {from, to, data + (from - first) * x_.channels, x_plane()});
    });
    multiply.set(0, data);
    multiply.set(1, points(run, 0));
    multiply.set(2, products);
    multiply.set_scratch(floats(run) + library_);
    multiply.run();
    for_blocks(run.threads, first, last, kTiles, [&](int64_t from, int64_t to) {
      join(run, {from, to, products + (from - first) * y_.channels, y_plane()});
    });
  }

  onednn::Primitive whole_, last_;
  int64_t library_ = 0;
};

Kernel blocks_kernel(const WinogradBlocks& blocks) {
  const auto bind = [blocks](const KernelRun&) -> BoundKernel {
    return [blocks, calls = WinogradBlocks::Calls(blocks)](const KernelRun& run) mutable { blocks.run(run, calls); };
  };
  return Kernel::with_bind(bind).scratch(blocks.scratch_bytes()).implementation(kWinogradName);
}

Kernel forward_kernel(const KernelPlan& plan, const WinogradForward& problem) {
  constexpr int64_t kSmallKernel = 768 << 10;
  if (problem.kernel_bytes() > kSmallKernel) return blocks_kernel(WinogradBlocks(plan, problem));
  return winograd_kernel_of(WinogradStrips(problem, plan.threads));
}

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

Kernel winograd_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task) {
  if (task.direction == ConvDirection::grad_kernel) return winograd_kernel_gradient(p, plan.threads);
  return forward_kernel(plan, WinogradForward(p, task, false));
}

bool are_of_tiles(const PoolAxes& windows) {
  const auto fits = [](const WindowAxis& a) {
    return a.window == 2 && a.stride == 2 && a.before == 0 && 2 * a.out <= a.in;
  };
  return fits(windows.h) && fits(windows.w);
}

Kernel winograd_pool_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task) {
  return forward_kernel(plan, WinogradForward(p, task, true));
}

}  // namespace martello::internal
