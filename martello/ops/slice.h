#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/extents.h>

#include <limits>

// Parts of a tensor along its axes.
namespace martello {

struct SliceAttrs {
  std::vector<int64_t> begin = {};
  std::vector<int64_t> size = {};
  bool operator==(const SliceAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("begin", self.begin);
    f("size", self.size);
  }
};
// size[i] elements from begin[i] on, for each axis; a size of -1 takes the rest. Must lie inside x.
Tensor slice(Operand x, std::vector<int64_t> begin, std::vector<int64_t> size, Name name = "slice");

// Ends of strided slices that lie outside any tensor: behind the last element, before the first.
inline constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kBefore = std::numeric_limits<int64_t>::min();

struct StridedSliceAttrs {
  std::vector<int64_t> begin = {};
  std::vector<int64_t> end = {};
  std::vector<int64_t> stride = {};  // none: 1
  bool operator==(const StridedSliceAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("begin", self.begin);
    f("end", self.end);
    f("stride", self.stride);
  }
};
// begin, begin + stride ... before end along each axis, as Python slices: negative positions count from the end,
// positions outside are moved to the border. Axes that are not named stay whole.
//   strided_slice(x, {kEnd}, {kBefore}, {-1});  // x[::-1]
Tensor strided_slice(Operand x, std::vector<int64_t> begin, std::vector<int64_t> end, std::vector<int64_t> stride = {},
                     Name name = "strided_slice");

struct StridedSliceGradAttrs {
  StridedSliceAttrs slice = {};
  Shape shape = {};  // -1 where the slice is the whole axis; not looked at when the shape comes as an input
  bool operator==(const StridedSliceGradAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    StridedSliceAttrs::fields(self.slice, f);
    f("shape", self.shape);
  }
};
// Zeros with dy in the place of the slice: the gradient of strided_slice().
Tensor strided_slice_grad(Operand dy, StridedSliceAttrs slice, Extents shape, Name name = "strided_slice_grad");

struct SelectRowAttrs {
  int64_t index = 0;
  bool operator==(const SelectRowAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("index", self.index); }
};
// x[index] without the first dimension; a negative index counts from the end.
Tensor select_row(Operand x, int64_t index, Name name = "select_row");

struct ReverseAttrs {
  std::vector<int> axes = {};
  bool operator==(const ReverseAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("axes", self.axes); }
};
// x read backwards along these axes.
Tensor reverse(Operand x, std::vector<int> axes, Name name = "reverse");

extern const OpDef op_slice, op_strided_slice, op_strided_slice_grad, op_select_row, op_reverse;

}  // namespace martello
