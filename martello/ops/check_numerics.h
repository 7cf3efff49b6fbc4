#pragma once
#include <martello/graph/op_def.h>

namespace martello {

struct CheckNumericsAttrs {
  std::string message = {};
  bool operator==(const CheckNumericsAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("message", self.message); }
};

// x itself; the run fails when an element is NaN or infinite, with `message`, how many there are and where the first
// is.
Tensor check_numerics(Operand x, std::string message, Name name = "check_numerics");
extern const OpDef op_check_numerics;

}  // namespace martello
