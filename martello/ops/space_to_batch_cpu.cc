#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/strided_copy.h>
#include <martello/ops/space_to_batch.h>

#include <algorithm>
#include <cstring>

namespace martello {
namespace {

// One place of the block: a box in space and the box of its batches.
struct Place {
  std::vector<cpu::CopyDim> dims = {};  // src: space, dst: batches
  int64_t space_offset = 0, batch_offset = 0;
};

// s runs over the places that lie inside space: 0 <= s * block + o - before < size.
Place place_of(const BlockAttrs& a, const Shape& space, const Shape& batches, int64_t number) {
  const auto from = cpu::dense_strides(space), to = cpu::dense_strides(batches);
  Place p;
  p.batch_offset = number * space[0] * to[0];
  p.dims.push_back({space[0], from[0], to[0]});
  std::vector<int64_t> o(a.block.size());
  for (size_t i = o.size(); i-- > 0; number /= a.block[i]) o[i] = number % a.block[i];
  for (size_t i = 0; i < o.size(); ++i) {
    const int64_t shift = o[i] - (a.before.empty() ? 0 : a.before[i]), size = space[static_cast<int>(i) + 1];
    const int64_t begin = shift < 0 ? ceil_div(-shift, a.block[i]) : 0;
    const int64_t end = size > shift ? ceil_div(size - shift, a.block[i]) : 0;
    p.dims.push_back({std::max<int64_t>(0, end - begin), a.block[i] * from[i + 1], to[i + 1]});
    p.space_offset += (begin * a.block[i] + shift) * from[i + 1];
    p.batch_offset += begin * to[i + 1];
  }
  for (size_t i = o.size() + 1; i < from.size(); ++i) p.dims.push_back({space[static_cast<int>(i)], from[i], to[i]});
  return p;
}

struct PlacedCopy {
  cpu::StridedCopy copy;
  int64_t src_offset, dst_offset;
};

// Without a box of its own, a place has nothing to copy.
bool is_empty(const Place& p) {
  return std::any_of(p.dims.begin(), p.dims.end(), [](const cpu::CopyDim& d) { return d.size == 0; });
}

std::vector<PlacedCopy> copies(const KernelPlan& plan, const Shape& space, const Shape& batches, bool to_batches) {
  const auto& a = plan.attrs<BlockAttrs>();
  const int64_t width = size_of(plan.in[0].dtype);
  std::vector<PlacedCopy> list;
  for (int64_t number = 0; number < checked_product(a.block); ++number) {
    Place p = place_of(a, space, batches, number);
    if (is_empty(p)) continue;
    if (!to_batches) {
      for (cpu::CopyDim& d : p.dims) std::swap(d.src, d.dst);
      std::swap(p.space_offset, p.batch_offset);
    }
    list.push_back({cpu::StridedCopy(p.dims, width), p.space_offset * width, p.batch_offset * width});
  }
  return list;
}

void copy_all(const std::vector<PlacedCopy>& list, const KernelRun& run) {
  for (const PlacedCopy& c : list)
    c.copy.run(static_cast<const std::byte*>(run.in_[0].data) + c.src_offset,
               static_cast<std::byte*>(run.out_[0].data) + c.dst_offset, run.threads);
}

}  // namespace

Kernel space_to_batch_nd_cpu(const KernelPlan& plan) {
  const auto list = copies(plan, plan.in[0].shape, plan.out[0].shape, true);
  const int64_t bytes = plan.out[0].shape.num_elements() * size_of(plan.out[0].dtype);
  const bool is_padded = plan.out[0].shape.num_elements() != plan.in[0].shape.num_elements();
  return Kernel([list, bytes, is_padded](const KernelRun& run) {
    if (is_padded) std::memset(run.out_[0].data, 0, static_cast<size_t>(bytes));
    copy_all(list, run);
  });
}

Kernel batch_to_space_nd_cpu(const KernelPlan& plan) {
  return Kernel(
      [list = copies(plan, plan.out[0].shape, plan.in[0].shape, false)](const KernelRun& run) { copy_all(list, run); });
}

}  // namespace martello
