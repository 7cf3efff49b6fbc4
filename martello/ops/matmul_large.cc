#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/large_gemm.h>

namespace martello::internal {

LargeGemm::LargeGemm(const MatmulSizes& sizes, const MatmulFlags& flags, int threads)
    : sizes_(sizes),
      flags_(flags),
      upright_(sizes, sizeof(float), flags.transpose_a),
      loops_(&cpu::gemm_loops<float>()),
      transpose_(
          cpu::of_host_isa(cpu::v2::transpose_loop, cpu::v3::transpose_loop, cpu::v4::transpose_loop)(sizeof(float))),
      threads_(threads) {
  depth_ = ceil_div(sizes.k, ceil_div(sizes.k, kMostDepth));
}

bool LargeGemm::is_faster(const MatmulSizes& s) {
  constexpr double kLarge = 1 << 28;
  constexpr int64_t kNarrow = 128;
  return cpu::host_isa() == cpu::Isa::v4 && is_possible(s) && s.multiplications() > kLarge && s.m >= kNarrow &&
         s.n >= kNarrow && s.k >= kNarrow;
}

int64_t LargeGemm::scratch_bytes() const {
  const int64_t panel = checked_mul(checked_mul(depth_, loops_->panel), int64_t{sizeof(float)});
  return checked_add(upright_.bytes(), checked_mul(panel, threads_));
}

void LargeGemm::run(const KernelRun& run) const {
  upright_.run(run, flags_.has_bias, [&](const KernelRun& with_a) {
    const cpu::GemmTask<float> all = whole_task(with_a);
    auto* panels = reinterpret_cast<float*>(with_a.scratch);
    const int shares = std::min(run.threads, threads_);
    parallel_for(shares, shares, [&](int64_t i) { share(all, i, shares, panels + i * depth_ * loops_->panel); });
  });
}

cpu::GemmTask<float> LargeGemm::whole_task(const KernelRun& run) const {
  return {.a = run.in<float>(0).data(),
          .a_row = sizes_.k,
          .a_column = 1,
          .b = run.in<float>(1).data(),
          .b_row = sizes_.n,
          .is_packed = false,
          .y = run.out<float>(0).data(),
          .y_row = sizes_.n,
          .bias = flags_.has_bias ? run.in<float>(2).data() : nullptr,
          .relu = flags_.relu,
          .k = sizes_.k,
          .first_row = 0,
          .last_row = sizes_.m,
          .first_column = 0,
          .last_column = sizes_.n};
}

// Every strip of columns is cut into as many groups of rows as there are shares, each of which gets its number of
// groups in order: most of its strips are whole, the first and the last may not be.
void LargeGemm::share(const cpu::GemmTask<float>& all, int64_t i, int64_t shares, float* panel) const {
  const int64_t strips = ceil_div(sizes_.n, kStrip);
  const auto row = [&](int64_t group) { return sizes_.m * group / shares; };
  for (int64_t at = i * strips, end = at + strips; at < end;) {
    const int64_t strip = at / shares, group = at % shares;
    const int64_t count = group == 0 ? (end - at) / shares : 0;
    const int64_t groups = count > 0 ? shares : std::min(shares - group, end - at);
    const int64_t last_strip = strip + std::max<int64_t>(count, 1);
    multiply(all, {row(group), row(group + groups), strip * kStrip, std::min(sizes_.n, last_strip * kStrip)}, panel);
    at += groups * std::max<int64_t>(count, 1);
  }
}

void LargeGemm::multiply(const cpu::GemmTask<float>& all, const Part& part, float* panel) const {
  cpu::GemmTask<float> task = all;
  task.first_row = part.first_row;
  task.last_row = part.last_row;
  for (int64_t depth = 0; depth < sizes_.k; depth += depth_) {
    task.k = std::min(depth_, sizes_.k - depth);
    task.adds = depth > 0;
    task.relu = all.relu && depth + task.k == sizes_.k;
    for (int64_t column = part.first_column; column < part.last_column; column += loops_->panel)
      multiply_panel(task, part, column, depth, panel);
  }
}

void LargeGemm::multiply_panel(cpu::GemmTask<float> task, const Part& part, int64_t column, int64_t depth,
                               float* panel) const {
  constexpr int64_t kBytes = sizeof(float);
  const int64_t width = std::min(loops_->panel, part.last_column - column);
  const bool is_last = depth + task.k == sizes_.k;
  task.a += depth;
  task.y += column;
  task.bias = task.bias && is_last ? task.bias + column : nullptr;
  task.last_column = width;
  task.kept = panel;
  if (!flags_.transpose_b) task.b += depth * sizes_.n + column;
  else {
    if (width < loops_->panel) std::fill_n(panel, task.k * loops_->panel, 0.0F);
    transpose_({.src = reinterpret_cast<const char*>(task.b + column * sizes_.k + depth),
                .src_stride = sizes_.k * kBytes,
                .dst = reinterpret_cast<char*>(panel),
                .dst_stride = loops_->panel * kBytes,
                .rows = task.k,
                .columns = width,
                .streaming = false});
    task.b = panel;
    task.kept = nullptr;
    task.is_packed = true;
  }
  loops_->rows(task);
}

}  // namespace martello::internal
