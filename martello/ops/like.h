#pragma once
#include <martello/ops/axes.h>
#include <martello/ops/extents.h>

// Shapes taken from another tensor, and constants too large to store.
namespace martello {

// g summed down to the shape of x, which must broadcast to that of g: the inverse of broadcasting, used by gradients()
// for every element-wise op. g itself when the shapes are known to agree. Only the shape of x matters.
Tensor sum_to_like(Operand g, Operand x, Name name = "sum_to_like");
extern const OpDef op_sum_to_like;

// x repeated along the dimensions in which `like` is larger. Only the shape of `like` matters.
Tensor broadcast_like(Operand x, Operand like, Name name = "broadcast_like");
extern const OpDef op_broadcast_like;

// x, which must have the shape of `like`: sizes that are unknown while the graph is built are compared when a plan is
// made. For what is compared element by element, where broadcasting would hide a mistake. x itself when its shape is
// known to be that. Only the shape of `like` matters.
Tensor shaped_like(Operand x, Operand like, Name name = "shaped_like");
extern const OpDef op_shaped_like;

struct BroadcastToAttrs {
  Shape shape = {};  // not looked at when the shape comes as an input
  bool operator==(const BroadcastToAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("shape", self.shape); }
};
// x repeated to `shape`: every size is given, or comes from other tensors: broadcast_to(x, {shape(y)[0], 3}).
Tensor broadcast_to(Operand x, Extents shape, Name name = "broadcast_to");
extern const OpDef op_broadcast_to;

struct SizeOfAttrs {
  Axes axes = {};
  DType dtype = i64;
  bool operator==(const SizeOfAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("axes", self.axes);
    f("dtype", self.dtype);
  }
};
// The number of elements of x along `axes`, a scalar; rows that depend on data are counted as they are in the run. A
// constant when the sizes are known.
Tensor size_of(Operand x, SizeOfAttrs attrs = {}, Name name = "size_of");
extern const OpDef op_size_of;

struct FillAttrs {
  Shape shape;
  DType dtype = f32;
  double value = 0;
  bool operator==(const FillAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("shape", self.shape);
    f("dtype", self.dtype);
    f("value", self.value);
  }
};
// A constant of one value, whose bytes are made by the run and not kept in the graph.
Tensor fill(FillAttrs attrs, Name name = "fill");
Tensor zeros(Shape shape, DType dtype = f32, Name name = "zeros");
Tensor ones(Shape shape, DType dtype = f32, Name name = "ones");
extern const OpDef op_fill;

}  // namespace martello
