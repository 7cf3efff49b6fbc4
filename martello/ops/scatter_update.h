#pragma once
#include <martello/graph/op_def.h>

// Writes to some rows of a variable, in the update phase: values[i...] belongs to row indices[i...] of axis 0, and a
// scalar to every element of these rows. Duplicates are applied in the order of the indices. A bad index fails the run
// before anything is written.
namespace martello {

// v[indices[i]] += values[i]
Operation scatter_add(Variable v, Operand indices, Operand values, Name name = "scatter_add");
// v[indices[i]] -= values[i]
Operation scatter_sub(Variable v, Operand indices, Operand values, Name name = "scatter_sub");
// v[indices[i]] = values[i]
Operation scatter_assign(Variable v, Operand indices, Operand values, Name name = "scatter_assign");

struct CheckIndicesAttrs {
  int64_t limit = 0;
  bool operator==(const CheckIndicesAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("limit", self.limit); }
};
// The indices themselves; the run fails when one is outside [0, limit).
Tensor check_indices(Operand indices, int64_t limit, Name name = "check_indices");

extern const OpDef op_scatter_add, op_scatter_sub, op_scatter_assign, op_check_indices;

}  // namespace martello
