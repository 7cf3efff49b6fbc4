#pragma once
#include <martello/graph/op_def.h>

namespace martello {

struct CumsumAttrs {
  int axis = 0;
  bool exclusive = false;  // y[i] is the sum of the elements before i
  bool reverse = false;    // from the end
  bool operator==(const CumsumAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("axis", self.axis);
    f("exclusive", self.exclusive);
    f("reverse", self.reverse);
  }
};

// y[i] = x[0] + ... + x[i] along `axis`. f32, f64, i32, i64; integers wrap around.
Tensor cumsum(Operand x, CumsumAttrs attrs = {}, Name name = "cumsum");
Tensor cumsum(Operand x, Name name);
extern const OpDef op_cumsum;

}  // namespace martello
