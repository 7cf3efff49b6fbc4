#pragma once
#include <martello/ops/extents.h>
#include <martello/ops/gather.h>

// Rows added to zeros at indices: the inverses of gathering. Rows with one index are summed in the order of the
// indices, whatever the number of threads.
namespace martello {

struct ScatterAttrs {
  Shape shape = {};  // of the result; not looked at when it comes as an input
  bool operator==(const ScatterAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("shape", self.shape); }
};
// y[indices[i..., 0], indices[i..., 1] ..., b...] += updates[i..., b...] in zeros of `shape`.
Tensor scatter_nd(Operand indices, Operand updates, Extents shape, Name name = "scatter_nd");

struct GatherGradAttrs {
  int axis = 0;
  int batch_dims = 0;
  Shape shape = {};  // of x; not looked at when it comes as an input
  bool operator==(const GatherGradAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("axis", self.axis);
    f("batch_dims", self.batch_dims);
    f("shape", self.shape);
  }
};
// dx[a, indices[i], b] += dy[a, i, b]: the gradient of gather() for any axis.
Tensor gather_grad(Operand dy, Operand indices, GatherAttrs attrs, Extents shape, Name name = "gather_grad");

// The shape of x for ops that make a tensor of its shape: static when it is known, else shape(x).
Extents shape_for(Tensor x);

extern const OpDef op_scatter_nd, op_gather_grad;

}  // namespace martello
