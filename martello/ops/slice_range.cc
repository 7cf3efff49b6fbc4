#include <martello/ops/internal/slice_range.h>

#include <martello/base/checked.h>

#include <algorithm>

namespace martello::internal {
namespace {

// A position as a number in [low, high].
int64_t clamped(int64_t position, int64_t n, int64_t low, int64_t high) {
  if (position < 0 && position != kBefore) position += n;
  return std::clamp(position, low, high);
}

}  // namespace

SliceRange slice_range(int64_t begin, int64_t end, int64_t stride, int64_t n) {
  if (n < 0) {
    const bool forward = begin == 0 && end == kEnd && stride == 1;
    const bool backward = (begin == -1 || begin == kEnd) && end == kBefore && stride == -1;
    return {0, stride, forward || backward ? n : kUnknown};
  }
  const int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? n : n - 1;
  const int64_t first = clamped(begin, n, low, high), last = clamped(end, n, low, high);
  const int64_t distance = stride > 0 ? last - first : first - last;
  // -(stride + 1) fits where -stride would not.
  const int64_t steps_less_one = stride > 0 ? stride - 1 : -(stride + 1);
  if (distance <= 0) return {0, stride, 0};
  return {first, stride, (distance - 1) / (steps_less_one == kEnd ? kEnd : steps_less_one + 1) + 1};
}

std::vector<SliceRange> slice_ranges(const StridedSliceAttrs& a, const Shape& shape) {
  std::vector<SliceRange> ranges;
  for (size_t i = 0; i < static_cast<size_t>(shape.rank()); ++i) {
    const int64_t n = shape.symbolic()[i];
    ranges.push_back(i < a.begin.size() ? slice_range(a.begin[i], a.end[i], a.stride.empty() ? 1 : a.stride[i], n)
                                        : SliceRange{0, 1, n});
  }
  return ranges;
}

bool is_whole(const StridedSliceAttrs& a, size_t axis) {
  return axis >= a.begin.size() ||
         (a.begin[axis] == 0 && a.end[axis] == kEnd && (a.stride.empty() || a.stride[axis] == 1));
}

StridedSliceAttrs as_strided(const SliceAttrs& a) {
  StridedSliceAttrs s{a.begin, {}, {}};
  for (size_t i = 0; i < a.begin.size(); ++i)
    s.end.push_back(a.size[i] == -1 ? kEnd : checked_add(a.begin[i], a.size[i]));
  return s;
}

StridedSliceAttrs as_strided(const ReverseAttrs& a, int rank) {
  const size_t n = static_cast<size_t>(rank);
  StridedSliceAttrs s{std::vector<int64_t>(n, 0), std::vector<int64_t>(n, kEnd), std::vector<int64_t>(n, 1)};
  for (const int axis : a.axes) {
    const size_t i = static_cast<size_t>(normalized_axis(axis, rank));
    s.begin[i] = kEnd;
    s.end[i] = kBefore;
    s.stride[i] = -1;
  }
  return s;
}

}  // namespace martello::internal
