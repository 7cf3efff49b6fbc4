#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/axes.h>

namespace martello {

struct MatmulAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
  bool widen = false;  // a and b are bf16, sums and y f32; the lower_precision pass makes it, models may too
  bool operator==(const MatmulAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("transpose_a", self.transpose_a);
    f("transpose_b", self.transpose_b);
    f("widen", self.widen);
  }
};
// y = a b over the last two dimensions, each transposed on demand: [..., m, k] x [..., k, n] -> [..., m, n]. Dimensions
// before them broadcast.
Tensor matmul(Operand a, Operand b, MatmulAttrs attrs = {}, Name name = "matmul");
Tensor matmul(Operand a, Operand b, Name name);
extern const OpDef op_matmul;

// Sums a and b over a_axes[i] beside b_axes[i], for all i; what is left of a comes first. The short form takes the last
// `axes` dimensions of a and the first ones of b. Built of transpose, reshape and matmul.
struct TensordotAttrs {
  Axes a_axes = {};
  Axes b_axes = {};
};
Tensor tensordot(Operand a, Operand b, TensordotAttrs attrs, Name name = "tensordot");
Tensor tensordot(Operand a, Operand b, int axes, Name name = "tensordot");

}  // namespace martello
