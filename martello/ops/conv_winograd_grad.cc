#include <martello/ops/internal/conv_winograd.h>
#include <martello/ops/internal/winograd_parts.h>

#include <bit>

namespace martello::internal {
namespace {

using cpu::kWinogradPoints;
using cpu::WinogradImages;
using cpu::WinogradKernel;

constexpr int64_t kFloat = sizeof(float);

// Tiles [first, last) of x and dy as points, and sums of their products.
struct TileBlock {
  int64_t first, last;
  float *data, *gradients, *sums;
  bool adds;  // to what the sums hold
};

// dw: for each of the 36 points a product of the tiles of x, transposed, and those of dy.
class WinogradKernelGradient {
 public:
  explicit WinogradKernelGradient(const ConvProblem& p) {
    x_ = images_of(p.axes, false, p.in_channels);
    y_ = images_of(p.axes, true, p.out_channels);
    set_tiles(x_, y_, p.axes[0].before, p.axes[1].before);
    tiles_ = tiles_of(p, y_);
    kernel_ = {x_.channels, y_.channels, y_.channels, plane_of(checked_mul(x_.channels, y_.channels))};
  }

  int64_t tiles() const { return tiles_; }
  int64_t sum_bytes() const { return checked_mul(planes_of(kernel_.plane), kFloat); }
  // Whose points, of x and dy, take so many bytes.
  int64_t tiles_in(int64_t bytes) const { return bytes / (kWinogradPoints * kFloat * (x_.channels + y_.channels)); }
  int64_t scratch_bytes() const { return parts_.bytes(); }

 protected:
  // Scratch for `lanes` blocks of tiles under way at once, and `sums` sets of sums.
  void set_blocks(int64_t block, int64_t lanes, int64_t sums) {
    block_ = std::min(tiles_, block);
    zeros_ = parts_.add(std::max(x_.channels, y_.channels));
    sums_ = parts_.add(checked_mul(sums, planes_of(kernel_.plane)));
    data_ = parts_.add(checked_mul(lanes, planes_of(x_plane())));
    gradients_ = parts_.add(checked_mul(lanes, planes_of(y_plane())));
  }
  int64_t x_plane() const { return plane_of(checked_mul(block_, x_.channels)); }
  int64_t y_plane() const { return plane_of(checked_mul(block_, y_.channels)); }

  void clear_zeros(const KernelRun& run) const {
    std::fill_n(floats(run) + zeros_, std::max(x_.channels, y_.channels), 0.0f);
  }

  // Part [from, to) of a block.
  void split(const KernelRun& run, const TileBlock& block, int64_t from, int64_t to) const {
    WinogradImages x = x_, y = y_;
    x.zeros = y.zeros = floats(run) + zeros_;
    const int64_t at = from - block.first;
    winograd_loops().split(x, run.in<float>(0).data(), {from, to, block.data + at * x.channels, x_plane()});
    winograd_loops().spread(y, run.in<float>(1).data(), {from, to, block.gradients + at * y.channels, y_plane()});
  }

  // Rows [row, last_row) of point e.
  void add_products(const TileBlock& block, int64_t e, int64_t row, int64_t last_row) const {
    cpu::gemm_loops<float>().rows({.a = block.data + e * x_plane(),
                                   .a_row = 1,
                                   .a_column = x_.channels,
                                   .b = block.gradients + e * y_plane(),
                                   .b_row = y_.channels,
                                   .is_packed = false,
                                   .y = block.sums + e * kernel_.plane,
                                   .y_row = y_.channels,
                                   .bias = nullptr,
                                   .relu = false,
                                   .k = block.last - block.first,
                                   .first_row = row,
                                   .last_row = last_row,
                                   .first_column = 0,
                                   .last_column = y_.channels,
                                   .adds = block.adds});
  }

  // dw from the first set of sums.
  void join(const KernelRun& run) const {
    constexpr int64_t kRows = 8;
    const int threads = kernel_.plane > 4096 ? run.threads : 1;
    for_blocks(threads, 0, kernel_.rows, kRows, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row)
        winograd_loops().join_kernel(kernel_, row, floats(run) + sums_, run.out<float>(0).data());
    });
  }

  WinogradImages x_ = {}, y_ = {};
  WinogradKernel kernel_ = {};
  int64_t tiles_ = 0, block_ = 0;
  ScratchParts parts_;
  int64_t zeros_ = 0, sums_ = 0, data_ = 0, gradients_ = 0;
};

// The sums stay in a core's cache, and so do a few tiles: each thread takes tiles from end to end. The strips that have
// sums of their own are as many with any number of threads, and so the bits are the same.
class WinogradGradientStrips : public WinogradKernelGradient {
 public:
  WinogradGradientStrips(const WinogradKernelGradient& problem, int threads)
      : WinogradKernelGradient(problem), lanes_(threads), strips_(strips_of(problem)) {
    constexpr int64_t kCache = 448 << 10;
    set_blocks(std::max<int64_t>(tiles_in(kCache), 8), lanes_, strips_);
  }

  // A strip's sums are written and read once more: they should be few beside its tiles. A power of two of them is
  // shared evenly by as many threads as most machines have.
  static int64_t strips_of(const WinogradKernelGradient& problem) {
    constexpr int64_t kMostStrips = 16, kMostSumBytes = 8 << 20;
    const int64_t sum_bytes = problem.sum_bytes(), tiles = std::max(kBlockTiles, problem.tiles_in(2 * sum_bytes));
    const int64_t most = std::min(kMostSumBytes / sum_bytes, problem.tiles() / tiles);
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(most, 1, kMostStrips))));
  }

  void run(const KernelRun& run) const {
    clear_zeros(run);
    parallel_for(run.threads, lanes_, [&](int64_t lane) {
      for (int64_t strip = strips_ * lane / lanes_; strip < strips_ * (lane + 1) / lanes_; ++strip)
        run_strip(run, lane, strip);
    });
    add_strips(run);
    join(run);
  }

 private:
  void run_strip(const KernelRun& run, int64_t lane, int64_t strip) const {
    const int64_t begin = tiles_ * strip / strips_, end = tiles_ * (strip + 1) / strips_;
    for (int64_t first = begin; first < end; first += block_) {
      const TileBlock block = {.first = first,
                               .last = std::min(end, first + block_),
                               .data = floats(run) + data_ + lane * planes_of(x_plane()),
                               .gradients = floats(run) + gradients_ + lane * planes_of(y_plane()),
                               .sums = floats(run) + sums_ + strip * planes_of(kernel_.plane),
                               .adds = first > begin};
      split(run, block, block.first, block.last);
      for (int64_t e = 0; e < kWinogradPoints; ++e) add_products(block, e, 0, x_.channels);
    }
  }

  void add_strips(const KernelRun& run) const {
    constexpr int64_t kPart = 4096;
    float* sums = floats(run) + sums_;
    for_blocks(run.threads, 0, planes_of(kernel_.plane), kPart, [&](int64_t first, int64_t last) {
      for (int64_t strip = 1; strip < strips_; ++strip) {
        const float* other = sums + strip * planes_of(kernel_.plane);
        for (int64_t i = first; i < last; ++i) sums[i] += other[i];
      }
    });
  }

  int lanes_;
  int64_t strips_;
};

// All threads take one step of many tiles after the other; the sums are read and written once for them.
class WinogradGradientBlocks : public WinogradKernelGradient {
 public:
  explicit WinogradGradientBlocks(const WinogradKernelGradient& problem) : WinogradKernelGradient(problem) {
    constexpr int64_t kCache = 4 << 20;
    const int64_t tiles = tiles_in(std::max(kCache, 2 * sum_bytes()));
    set_blocks(std::max(kBlockTiles, tiles / kBlockTiles * kBlockTiles), 1, 1);
  }

  void run(const KernelRun& run) const {
    clear_zeros(run);
    for (int64_t first = 0; first < tiles_; first += block_) add_block(run, first);
    join(run);
  }

 private:
  void add_block(const KernelRun& run, int64_t first) const {
    constexpr int64_t kTiles = 16, kRows = 48;
    const TileBlock block = {.first = first,
                             .last = std::min(tiles_, first + block_),
                             .data = floats(run) + data_,
                             .gradients = floats(run) + gradients_,
                             .sums = floats(run) + sums_,
                             .adds = first > 0};
    for_blocks(run.threads, block.first, block.last, kTiles,
               [&](int64_t from, int64_t to) { split(run, block, from, to); });
    const int64_t rows = ceil_div(x_.channels, kRows);
    parallel_for(run.threads, kWinogradPoints * rows, [&](int64_t i) {
      const int64_t row = i % rows * kRows;
      add_products(block, i / rows, row, std::min(x_.channels, row + kRows));
    });
  }
};

}  // namespace

Kernel winograd_kernel_gradient(const ConvProblem& p, int threads) {
  constexpr int64_t kSmallSums = 768 << 10, kFewestStrips = 4;
  const WinogradKernelGradient problem(p);
  if (problem.sum_bytes() <= kSmallSums && WinogradGradientStrips::strips_of(problem) >= kFewestStrips)
    return winograd_kernel_of(WinogradGradientStrips(problem, threads));
  return winograd_kernel_of(WinogradGradientBlocks(problem));
}

}  // namespace martello::internal
