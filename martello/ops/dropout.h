#pragma once
#include <martello/graph/op_def.h>

namespace martello {

struct DropoutAttrs {
  double rate = 0.5;  // the part that is dropped, in [0, 1)
  int64_t key = 0;    // set by dropout()
  bool operator==(const DropoutAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("rate", self.rate);
    f("key", self.key);
  }
};
// x / (1 - rate), or 0 with probability `rate`; what is dropped differs from run to run, as in ops/random.h. Always
// drops: a layer decides whether it trains. With rate 0 it is x.
Tensor dropout(Operand x, DropoutAttrs attrs = {}, Name name = "dropout");
extern const OpDef op_dropout;

}  // namespace martello
