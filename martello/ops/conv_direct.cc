#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/conv_direct.h>
#include <martello/ops/internal/direct_conv_loops.h>
#include <martello/ops/internal/pool_loops.h>
#include <martello/ops/internal/scratch.h>

#include <algorithm>
#include <optional>

// Note [Direct convolution]: an image of few channels, as the first layer of a model sees it, has few numbers under a
// window, and y is many times as large as x. So threads take strips of y's rows; each copies the rows of x under its
// strip with their padding, so that a window may begin anywhere, and the kernel is read as its variable holds it. When
// the result is pooled, a strip of y stays in a core's cache and only its largest numbers are written.
namespace martello::internal {
namespace {

constexpr int64_t kMostTaps = 32;          // numbers under a window
constexpr int64_t kStripBytes = 16 << 10;  // of y, in the first cache
// Measured: the library is as fast or faster with longer rows, and with several channels that fill no whole vectors.
constexpr int64_t kMostRowBytes = 8 << 10, kMostChannels = 4, kWholeChannels = 16;

// Windows at a time, by what a row takes: a block of few is as slow as one of four.
int64_t block_of(int64_t columns) {
  const auto cost = [&](int64_t block) { return ceil_div(columns, block) * (std::max<int64_t>(block, 4) + 1); };
  int64_t best = 1;
  for (int64_t block : cpu::kDirectBlocks)
    if (block <= columns && cost(block) < cost(best)) best = block;
  return best;
}

cpu::PoolAxis pool_axis(const WindowAxis& a) { return {a.in, a.out, a.window, a.stride, a.before}; }

// Rows of the result, all of one image, that a thread computes at a time.
class DirectStrips {
 public:
  DirectStrips(const ConvProblem& p, const ConvTask& task, const std::optional<PoolAxes>& pool, int threads)
      : problem_(p),
        task_(task),
        threads_(threads),
        y_row_(checked_mul(axis(1).out, p.out_channels)),
        x_row_(checked_mul(reach(axis(1), axis(1).out), p.in_channels)) {
    if (pool) pool_ = cpu::PoolImage{pool_axis(pool->h), pool_axis(pool->w), p.out_channels};
    const int64_t rows = pool_ ? pool_->h.out : p.axes[0].out, stride = pool_ ? pool_->h.stride : 1;
    const int64_t row_bytes = checked_mul(checked_mul(stride, y_row_), int64_t{sizeof(float)});
    strips_ = ceil_div(rows, std::clamp<int64_t>(kStripBytes / row_bytes, 1, rows));
    rows_ = rows;
    const int64_t most = ceil_div(rows, strips_);
    y_rows_ = pool_ ? std::min(pool_->h.in, checked_add(checked_mul(most - 1, stride), pool_->h.size)) : most;
    for (int64_t i = 0; i < axis(0).window; ++i)
      for (int64_t j = 0; j < axis(1).window; ++j)
        for (int64_t c = 0; c < p.in_channels; ++c)
          places_.push_back(i * axis(0).dilation * x_row_ + j * axis(1).dilation * p.in_channels + c);
    Scratch scratch;
    take(scratch);
    lane_bytes_ = scratch.bytes();
  }

  int64_t scratch_bytes() const { return checked_mul(lane_bytes_, threads_); }

  void run(const KernelRun& run) const {
    const cpu::DirectRow row = row_of(run);
    parallel_for(std::min(run.threads, threads_), checked_mul(problem_.batch, strips_), [&](int thread, int64_t i) {
      Scratch scratch(run.scratch + thread * lane_bytes_);
      const Lane lane = take(scratch);
      const int64_t image = i / strips_;
      const Share rows = Share::of(rows_, i % strips_, strips_);
      const float* x = run.in<float>(0).data() + image * axis(0).in * axis(1).in * problem_.in_channels;
      if (pool_) return pool_rows(row, rows, lane, x, run.out<float>(0).data() + image * pooled_image());
      convolve_rows(row, rows, lane, x, run.out<float>(0).data() + (image * axis(0).out + rows.first) * y_row_);
    });
  }

 private:
  struct Lane {
    float *x, *y;
  };
  Lane take(Scratch& scratch) const {
    float* x = scratch.take<float>(checked_mul(x_rows(y_rows_), x_row_));
    return {x, scratch.take<float>(pool_ ? checked_mul(y_rows_, y_row_) : 0)};
  }

  const WindowAxis& axis(int i) const { return problem_.axes[i]; }
  int64_t pooled_image() const { return pool_->h.out * pool_->w.out * pool_->channels; }
  // Rows of x under so many of y.
  int64_t x_rows(int64_t y_rows) const { return reach(axis(0), y_rows); }
  static int64_t reach(const WindowAxis& a, int64_t windows) {
    return checked_add(checked_mul(windows - 1, a.stride), checked_mul(a.window - 1, a.dilation)) + 1;
  }

  cpu::DirectRow row_of(const KernelRun& run) const {
    return {.columns = axis(1).out,
            .channels = problem_.out_channels,
            .taps = static_cast<int64_t>(places_.size()),
            .places = places_.data(),
            .step = axis(1).stride * problem_.in_channels,
            .block = block_of(axis(1).out),
            .kernel = run.in<float>(1).data(),
            .bias = task_.has_bias ? run.in<float>(2).data() : nullptr,
            .relu = task_.relu};
  }

  // `count` rows of x from the first under row `y` on, with zeros for padding.
  void copy_rows(const float* x, int64_t y, int64_t count, float* to) const {
    const int64_t channels = problem_.in_channels, first = y * axis(0).stride - axis(0).before;
    const int64_t before = std::min(axis(1).before * channels, x_row_);
    const int64_t inside = std::min(axis(1).in * channels, x_row_ - before);
    for (int64_t i = first; i < first + count; ++i, to += x_row_) {
      const bool is_inside = i >= 0 && i < axis(0).in;
      if (!is_inside) {
        std::fill_n(to, x_row_, 0.0f);
        continue;
      }
      std::fill_n(to, before, 0.0f);
      std::copy_n(x + i * axis(1).in * channels, inside, to + before);
      std::fill(to + before + inside, to + x_row_, 0.0f);
    }
  }

  void convolve_rows(const cpu::DirectRow& row, const Share& rows, const Lane& lane, const float* x, float* y) const {
    const auto& loops =
        cpu::of_host_isa(cpu::v2::direct_conv_loops, cpu::v3::direct_conv_loops, cpu::v4::direct_conv_loops);
    copy_rows(x, rows.first, x_rows(rows.last - rows.first), lane.x);
    for (int64_t i = 0; i < rows.last - rows.first; ++i)
      loops.row(row, lane.x + i * axis(0).stride * x_row_, y + i * y_row_);
  }

  // Of the pooled image `pooled`.
  void pool_rows(const cpu::DirectRow& row, const Share& rows, const Lane& lane, const float* x, float* pooled) const {
    const auto loop = cpu::of_host_isa(cpu::v2::largest_rows_f32, cpu::v3::largest_rows_f32, cpu::v4::largest_rows_f32);
    cpu::PoolImage strip = *pool_;
    const int64_t first = rows.first * strip.h.stride - strip.h.before;
    const Share seen{std::max<int64_t>(first, 0),
                     std::min(strip.h.in, (rows.last - 1) * strip.h.stride - strip.h.before + strip.h.size)};
    convolve_rows(row, seen, lane, x, lane.y);
    strip.h.in = seen.last - seen.first;
    strip.h.out = rows.last - rows.first;
    strip.h.before = seen.first - first;
    loop(lane.y, pooled + rows.first * strip.w.out * strip.channels, strip);
  }

  ConvProblem problem_;
  ConvTask task_;
  int threads_;
  int64_t y_row_, x_row_;  // numbers in a row of y, and in one of x that all its windows see
  std::optional<cpu::PoolImage> pool_;
  int64_t rows_ = 0, strips_ = 0;  // of an image of the result
  int64_t y_rows_ = 0;             // that a strip needs at most
  std::vector<int64_t> places_;    // of what is under a window, in the rows of x that a thread has copied
  int64_t lane_bytes_ = 0;
};

Kernel strips_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task,
                     const std::optional<PoolAxes>& pool) {
  const DirectStrips strips(p, task, pool, plan.threads);
  return Kernel([strips](const KernelRun& run) { strips.run(run); }).scratch(strips.scratch_bytes());
}

}  // namespace

bool is_for_direct(const ConvProblem& p, ConvDirection direction) {
  const bool is_plain = p.dtype == f32 && p.format == DataFormat::nhwc && p.groups == 1 && !p.has_no_elements();
  return is_plain && direction == ConvDirection::forward &&
         p.axes[0].window * p.axes[1].window <= kMostTaps / p.in_channels;
}

bool is_direct_faster(const ConvProblem& p, ConvDirection direction) {
  if (!is_for_direct(p, direction) || p.in_channels > kMostChannels) return false;
  const int64_t row_bytes = checked_mul(checked_mul(p.axes[1].out, p.out_channels), int64_t{sizeof(float)});
  return row_bytes <= kMostRowBytes && (p.in_channels == 1 || p.out_channels % kWholeChannels == 0);
}

Kernel direct_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task) {
  return strips_kernel(plan, p, task, std::nullopt);
}

Kernel direct_pool_kernel(const KernelPlan& plan, const ConvProblem& p, const ConvTask& task, const PoolAxes& pool) {
  return strips_kernel(plan, p, task, pool);
}

}  // namespace martello::internal
