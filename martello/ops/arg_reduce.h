#pragma once
#include <martello/ops/reduce.h>

namespace martello {

struct ArgReduceAttrs {
  int axis = -1;
  bool keep_dims = false;
  bool operator==(const ArgReduceAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("axis", self.axis);
    f("keep_dims", self.keep_dims);
  }
};

// Where the largest element along `axis` is, i64. The first of equal ones; NaN counts as larger than every number.
Tensor argmax(Operand x, ArgReduceAttrs attrs = {}, Name name = "argmax");
Tensor argmax(Operand x, Name name);
extern const OpDef op_argmax;

// Where the smallest element along `axis` is, i64. The first of equal ones; NaN counts as larger than every number.
Tensor argmin(Operand x, ArgReduceAttrs attrs = {}, Name name = "argmin");
Tensor argmin(Operand x, Name name);
extern const OpDef op_argmin;

// How many elements along `axes` are not 0 (or not false), i64.
Tensor count_nonzero(Operand x, ReduceAttrs attrs = {}, Name name = "count_nonzero");
Tensor count_nonzero(Operand x, Name name);
extern const OpDef op_count_nonzero;

}  // namespace martello
