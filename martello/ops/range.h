#pragma once
#include <martello/graph/op_def.h>

// Regular sequences and grids.
namespace martello {

struct RangeAttrs {
  double start = 0, limit = 0, delta = 1;  // not looked at when they come as inputs
  DType dtype = i64;
  bool operator==(const RangeAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("start", self.start);
    f("limit", self.limit);
    f("delta", self.delta);
    f("dtype", self.dtype);
  }
};
// start, start + delta ... before limit. Numbers give i64, or f32 when one is not integral; with a Tensor, whose value
// must follow from shapes, all are integers of its dtype: range(0, shape(x)[0]).
Tensor range(Operand start, Operand limit, Operand delta = 1, Name name = "range");

struct EyeAttrs {
  int64_t rows = 0;
  int64_t columns = 0;
  DType dtype = f32;
  bool operator==(const EyeAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("rows", self.rows);
    f("columns", self.columns);
    f("dtype", self.dtype);
  }
};
// Ones on the diagonal, zeros elsewhere.
Tensor eye(int64_t n, DType dtype = f32, Name name = "eye");
Tensor eye(EyeAttrs attrs, Name name = "eye");

// y[p[i]] = i. Anything but a permutation ends the run with the number at fault.
Tensor invert_permutation(Operand p, Name name = "invert_permutation");

struct MeshgridAttrs {
  bool matrix_indexing = false;  // true: axis i follows xs[i]; false: the first two change places, as for images
  bool operator==(const MeshgridAttrs&) const = default;
};
// The vectors xs, each repeated over the grid of all.
TensorList meshgrid(TensorList xs, MeshgridAttrs attrs = {}, Name name = "meshgrid");

extern const OpDef op_range, op_eye, op_invert_permutation;

}  // namespace martello
