#pragma once
#include <martello/ops/concat.h>

namespace martello {

struct SplitAttrs {
  int64_t pieces = 0;  // 0: by sizes
  Shape sizes = {};    // not looked at when they come as an input
  int axis = 0;
  bool operator==(const SplitAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("pieces", self.pieces);
    f("sizes", self.sizes);
    f("axis", self.axis);
  }
};
// x cut along `axis` into pieces of these sizes, which add up; one may be -1: it takes the rest.
TensorList split(Operand x, Extents sizes, int axis = 0, Name name = "split");
TensorList split_evenly(Operand x, int64_t pieces, int axis = 0, Name name = "split");
// Into this many equal pieces. A template, so that `{2}` means sizes.
template <std::integral I>
TensorList split(Operand x, I pieces, int axis = 0, Name name = "split") {
  return split_evenly(x, static_cast<int64_t>(pieces), axis, name);
}
// The slices of x along `axis`, whose size must be known, without that dimension.
TensorList unstack(Operand x, int axis = 0, Name name = "unstack");

extern const OpDef op_split;

}  // namespace martello
