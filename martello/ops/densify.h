#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/extents.h>

namespace martello {

struct DensifyAttrs {
  int64_t rows = kUnknown;  // not looked at when the number of rows comes as an input
  bool operator==(const DensifyAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("rows", self.rows); }
};
// The dense form of a row-sparse gradient: y[indices[i]] += values[i] in zeros of [rows, ...]. `rows` is one size. Rows
// with one index are summed in the order of the indices, whatever the number of threads.
Tensor densify(Operand indices, Operand values, Extents rows, Name name = "densify");

extern const OpDef op_densify;

}  // namespace martello
