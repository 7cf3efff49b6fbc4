#pragma once
#include <martello/ops/slice.h>

// Slices as first position, step and count per axis.
namespace martello::internal {

struct SliceRange {
  int64_t begin = 0;
  int64_t stride = 1;
  int64_t size = kUnknown;  // may be a symbol
};

// Of one axis of `n` elements; n may be unknown.
SliceRange slice_range(int64_t begin, int64_t end, int64_t stride, int64_t n);
// Of each axis of a shape; the lists may be shorter than the shape.
std::vector<SliceRange> slice_ranges(const StridedSliceAttrs& a, const Shape& shape);
// The whole axis, whatever its size.
bool is_whole(const StridedSliceAttrs& a, size_t axis);

// Of the attributes of slice() and reverse().
StridedSliceAttrs as_strided(const SliceAttrs& a);
StridedSliceAttrs as_strided(const ReverseAttrs& a, int rank);

}  // namespace martello::internal
