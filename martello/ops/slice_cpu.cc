#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/strided_copy.h>
#include <martello/ops/internal/slice_range.h>

#include <algorithm>
#include <cstring>

namespace martello {
namespace {

using cpu::CopyDim;

// A dense box and the slice of a larger dense tensor that corresponds to it.
struct SliceView {
  std::vector<CopyDim> dims = {};  // src: the large one
  int64_t offset_bytes = 0;        // of the slice's first element in it
  bool keeps_rows = false;
};

SliceView slice_view(const StridedSliceAttrs& a, const Shape& large, int64_t width) {
  const auto ranges = internal::slice_ranges(a, large);
  Shape small;
  for (const auto& r : ranges) small.push_back(r.size);
  const auto from = cpu::dense_strides(large), to = cpu::dense_strides(small);
  SliceView view;
  for (size_t i = 0; i < ranges.size(); ++i) {
    // One element needs no stride, which may be too large to multiply.
    const int64_t step = ranges[i].size > 1 ? ranges[i].stride * from[i] : 0;
    view.dims.push_back({ranges[i].size, step, to[i]});
    view.offset_bytes += ranges[i].begin * from[i] * width;
  }
  view.keeps_rows = !ranges.empty() && internal::is_whole(a, 0);
  return view;
}

Kernel sliced(const KernelPlan& plan, const StridedSliceAttrs& a) {
  const int64_t width = size_of(plan.in[0].dtype);
  const Shape& y = plan.out[0].shape;
  const SliceView view = slice_view(a, plan.in[0].shape, width);
  return Kernel([copy = cpu::RowwiseCopy(view.dims, width), offset = view.offset_bytes, keeps_rows = view.keeps_rows,
                 planned = y.rank() > 0 ? y[0] : 1](const KernelRun& run) {
    const int64_t rows = keeps_rows ? run.in_rows(0) : planned;
    copy.run(static_cast<const std::byte*>(run.in_[0].data) + offset, run.out_[0].data, rows, run.threads);
    run.set_out_rows(0, rows);
  });
}

void fill_zeros(void* data, int64_t bytes, int threads) {
  constexpr int64_t kChunk = 1 << 18;
  parallel_for(threads, ceil_div(bytes, kChunk), [&](int64_t c) {
    std::memset(static_cast<std::byte*>(data) + c * kChunk, 0,
                static_cast<size_t>(std::min(kChunk, bytes - c * kChunk)));
  });
}

}  // namespace

Kernel slice_cpu(const KernelPlan& plan) { return sliced(plan, internal::as_strided(plan.attrs<SliceAttrs>())); }
Kernel strided_slice_cpu(const KernelPlan& plan) { return sliced(plan, plan.attrs<StridedSliceAttrs>()); }
Kernel reverse_cpu(const KernelPlan& plan) {
  return sliced(plan, internal::as_strided(plan.attrs<ReverseAttrs>(), plan.in[0].shape.rank()));
}

Kernel strided_slice_grad_cpu(const KernelPlan& plan) {
  const int64_t width = size_of(plan.in[0].dtype);
  const Shape& dx = plan.out[0].shape;
  SliceView view = slice_view(plan.attrs<StridedSliceGradAttrs>().slice, dx, width);
  for (CopyDim& d : view.dims) std::swap(d.src, d.dst);
  const int64_t planned = dx.rank() > 0 ? dx[0] : 1,
                row_bytes = dx.num_elements(std::min(1, dx.rank()), dx.rank()) * width;
  return Kernel([copy = cpu::RowwiseCopy(view.dims, width), offset = view.offset_bytes, keeps_rows = view.keeps_rows,
                 planned, row_bytes, slice_rows = dx.rank() > 0 ? plan.in[0].shape[0] : 1](const KernelRun& run) {
    const int64_t rows = keeps_rows ? run.in_rows(0) : planned;
    fill_zeros(run.out_[0].data, rows * row_bytes, run.threads);
    copy.run(run.in_[0].data, static_cast<std::byte*>(run.out_[0].data) + offset, keeps_rows ? rows : slice_rows,
             run.threads);
    run.set_out_rows(0, rows);
  });
}

Kernel select_row_cpu(const KernelPlan& plan) {
  const Shape& x = plan.in[0].shape;
  const int64_t index = plan.attrs<SelectRowAttrs>().index, width = size_of(plan.in[0].dtype);
  const int64_t elements = x.num_elements(1, x.rank()), row = index < 0 ? index + x[0] : index;
  return Kernel(
      [copy = cpu::StridedCopy({{elements, 1, 1}}, width), offset = row * elements * width](const KernelRun& run) {
        copy.run(static_cast<const std::byte*>(run.in_[0].data) + offset, run.out_[0].data, run.threads);
      });
}

}  // namespace martello
