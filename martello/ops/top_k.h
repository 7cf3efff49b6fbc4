#pragma once
#include <martello/graph/op_def.h>

namespace martello {

struct TopKAttrs {
  int64_t k = 1;
  bool operator==(const TopKAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("k", self.k); }
};

struct TopK {
  Tensor values, indices;  // indices are i64
};
// The k largest elements along the last axis, largest first; of equal ones the lower index first. NaN counts as larger
// than every number.
TopK top_k(Operand x, int64_t k, Name name = "top_k");
extern const OpDef op_top_k;

// y[..., j] = x[..., indices[..., j]]. An index outside of x is an error of the run.
Tensor take_along_last(Operand x, Operand indices, Name name = "take_along_last");
extern const OpDef op_take_along_last;

// Zeros like `like`, with values[..., j] added at indices[..., j]: the gradient of take_along_last.
Tensor add_along_last(Operand values, Operand indices, Operand like, Name name = "add_along_last");
extern const OpDef op_add_along_last;

}  // namespace martello
