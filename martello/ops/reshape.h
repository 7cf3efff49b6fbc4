#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/extents.h>

// The same elements in another shape: no work, no copy.
namespace martello {

struct ReshapeAttrs {
  Shape shape = {};  // not looked at when the shape comes as an input
  bool operator==(const ReshapeAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("shape", self.shape); }
};
// One size may be -1: it follows from the number of elements.
Tensor reshape(Operand x, Extents shape, Name name = "reshape");
// [N, ...] as [N, all the rest]; a vector becomes [N, 1].
Tensor flatten(Operand x, Name name = "flatten");

struct AxisAttrs {
  int axis = 0;
  bool operator==(const AxisAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("axis", self.axis); }
};
// A dimension of 1 before dimension `axis`; -1 puts it last.
Tensor expand_dims(Operand x, int axis, Name name = "expand_dims");

struct SqueezeAttrs {
  std::vector<int> axes = {};
  bool operator==(const SqueezeAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("axes", self.axes); }
};
// Without these dimensions of 1; without all of them when none is named.
Tensor squeeze(Operand x, std::vector<int> axes = {}, Name name = "squeeze");

extern const OpDef op_reshape, op_flatten, op_expand_dims, op_squeeze;

}  // namespace martello
