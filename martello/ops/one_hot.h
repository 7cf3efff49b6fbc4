#pragma once
#include <martello/graph/op_def.h>

namespace martello {

struct OneHotAttrs {
  int64_t depth = 0;
  double on = 1;
  double off = 0;
  DType dtype = f32;
  int axis = -1;  // where the new dimension goes
  bool operator==(const OneHotAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("depth", self.depth);
    f("on", self.on);
    f("off", self.off);
    f("dtype", self.dtype);
    f("axis", self.axis);
  }
};
// `on` where a new dimension of size depth equals the index, `off` elsewhere; an index outside [0, depth) gives only
// `off`. The depth field of attrs is not looked at.
Tensor one_hot(Operand indices, int64_t depth, OneHotAttrs attrs = {}, Name name = "one_hot");

extern const OpDef op_one_hot;

}  // namespace martello
