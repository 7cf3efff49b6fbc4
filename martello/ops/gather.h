#pragma once
#include <martello/graph/op_def.h>

// Elements picked by indices (i32 or i64). An index outside the tensor ends the run with its position and value.
namespace martello {

struct GatherAttrs {
  int axis = 0;
  int batch_dims = 0;
  bool operator==(const GatherAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("axis", self.axis);
    f("batch_dims", self.batch_dims);
  }
};
// y[a..., i..., b...] = x[a..., indices[i...], b...] with `axis` dimensions before; the first batch_dims dimensions of
// x and indices go together. The gradient of axis 0 is a densify() node, a sum over rows.
Tensor gather(Operand x, Operand indices, GatherAttrs attrs = {}, Name name = "gather");
Tensor gather(Operand x, Operand indices, Name name);
// y[i..., b...] = x[indices[i..., 0], indices[i..., 1] ..., b...]
Tensor gather_nd(Operand x, Operand indices, Name name = "gather_nd");

extern const OpDef op_gather, op_gather_nd;

}  // namespace martello
