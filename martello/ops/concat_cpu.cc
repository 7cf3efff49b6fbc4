#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/strided_copy.h>
#include <martello/ops/reshape.h>

namespace martello {
namespace {

struct Part {
  cpu::RowwiseCopy copy;
  int64_t offset_bytes;
};

// Both views as [rows, outer, elements of the part].
std::vector<cpu::CopyDim> block_dims(const Shape& whole, int axis, int64_t part_elements, int64_t whole_elements) {
  const int64_t rows = axis > 0 ? whole[0] : 1, outer = axis > 1 ? whole.num_elements(1, axis) : 1;
  return {{rows, part_elements * outer, whole_elements * outer},
          {outer, part_elements, whole_elements},
          {part_elements, 1, 1}};
}

}  // namespace

// Also stack: its parts are 1 along the axis.
Kernel concat_cpu(const KernelPlan& plan) {
  const Shape& y = plan.out[0].shape;
  const int axis = normalized_axis(plan.attrs<AxisAttrs>().axis, y.rank());
  const bool is_stack = plan.in[0].shape.rank() < y.rank();
  const int64_t width = size_of(plan.out[0].dtype), inner = y.num_elements(axis + 1, y.rank());
  std::vector<Part> parts;
  int64_t offset = 0;
  for (const TensorSpec& x : plan.in) {
    const int64_t elements = is_stack ? inner : x.shape[axis] * inner;
    parts.push_back({cpu::RowwiseCopy(block_dims(y, axis, elements, y[axis] * inner), width), offset * width});
    offset += elements;
  }
  return Kernel([parts, axis, planned = y[0]](const KernelRun& run) {
    const int64_t rows = axis > 0 ? run.in_rows(0) : 1;
    std::byte* dst = static_cast<std::byte*>(run.out_[0].data);
    for (size_t i = 0; i < parts.size(); ++i)
      parts[i].copy.run(run.in_[i].data, dst + parts[i].offset_bytes, rows, run.threads);
    run.set_out_rows(0, axis > 0 ? rows : planned);
  });
}

Kernel split_cpu(const KernelPlan& plan, int axis) {
  const Shape& x = plan.in[0].shape;
  const int64_t width = size_of(plan.in[0].dtype), inner = x.num_elements(axis + 1, x.rank());
  std::vector<Part> parts;
  std::vector<int64_t> planned;
  int64_t offset = 0;
  for (const TensorSpec& y : plan.out) {
    const int64_t elements = y.shape[axis] * inner;
    auto dims = block_dims(x, axis, elements, x[axis] * inner);
    for (cpu::CopyDim& d : dims) std::swap(d.src, d.dst);
    parts.push_back({cpu::RowwiseCopy(dims, width), offset * width});
    planned.push_back(y.shape[0]);
    offset += elements;
  }
  return Kernel([parts, planned, axis](const KernelRun& run) {
    const int64_t rows = axis > 0 ? run.in_rows(0) : 1;
    const std::byte* src = static_cast<const std::byte*>(run.in_[0].data);
    for (size_t i = 0; i < parts.size(); ++i) {
      parts[i].copy.run(src + parts[i].offset_bytes, run.out_[i].data, rows, run.threads);
      run.set_out_rows(static_cast<int>(i), axis > 0 ? rows : planned[i]);
    }
  });
}

}  // namespace martello
