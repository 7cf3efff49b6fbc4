#pragma once
#include <martello/graph/op_def.h>

namespace martello {

struct TransposeAttrs {
  std::vector<int> perm = {};
  bool operator==(const TransposeAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("perm", self.perm); }
};
// Dimension i of the result is dimension perm[i] of x; without perm all dimensions are reversed.
Tensor transpose(Operand x, std::vector<int> perm = {}, Name name = "transpose");

extern const OpDef op_transpose;

}  // namespace martello
