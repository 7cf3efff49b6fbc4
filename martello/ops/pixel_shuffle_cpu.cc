#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/strided_copy.h>
#include <martello/ops/pixel_shuffle.h>

#include <algorithm>

namespace martello {
namespace {

// Every element as (n, h, i, w, j, c). `packed` has the blocks in its channels, `spread` in its pixels; src and dst of
// the dimensions are their strides.
std::vector<cpu::CopyDim> block_dims(const PixelShuffleAttrs& a, const Shape& packed, const Shape& spread) {
  const bool is_nhwc = a.data_format == DataFormat::nhwc;
  const size_t channel = is_nhwc ? 3 : 1, row = is_nhwc ? 1 : 2, column = row + 1;
  const auto from = cpu::dense_strides(packed), to = cpu::dense_strides(spread);
  const int64_t b = a.block, channels = spread[static_cast<int>(channel)], step = from[channel];
  const bool is_channel_major = a.order == PixelOrder::channel_major;
  const int64_t by_c = is_channel_major ? b * b * step : step;
  const int64_t by_j = is_channel_major ? step : channels * step;
  return {{packed[0], from[0], to[0]}, {packed[static_cast<int>(row)], from[row], b * to[row]},
          {b, b * by_j, to[row]},      {packed[static_cast<int>(column)], from[column], b * to[column]},
          {b, by_j, to[column]},       {channels, by_c, to[channel]}};
}

// Written in order of memory.
Kernel copy_kernel(const KernelPlan& plan, const Shape& packed, const Shape& spread, bool is_shuffle) {
  // Without elements the other sizes may be anything: no strides for them.
  if (packed.num_elements() == 0) return Kernel([](const KernelRun& run) { run.set_out_rows(0, run.in_rows(0)); });
  auto dims = block_dims(plan.attrs<PixelShuffleAttrs>(), packed, spread);
  if (!is_shuffle)
    for (cpu::CopyDim& d : dims) std::swap(d.src, d.dst);
  std::stable_sort(dims.begin() + 1, dims.end(), [](const auto& a, const auto& b) { return a.dst > b.dst; });
  return Kernel([copy = cpu::RowwiseCopy(dims, size_of(plan.in[0].dtype))](const KernelRun& run) {
    copy.run(run.in_[0].data, run.out_[0].data, run.in_rows(0), run.threads);
    run.set_out_rows(0, run.in_rows(0));
  });
}

}  // namespace

Kernel pixel_shuffle_cpu(const KernelPlan& plan) {
  return copy_kernel(plan, plan.in[0].shape, plan.out[0].shape, true);
}

Kernel pixel_unshuffle_cpu(const KernelPlan& plan) {
  return copy_kernel(plan, plan.out[0].shape, plan.in[0].shape, false);
}

}  // namespace martello
