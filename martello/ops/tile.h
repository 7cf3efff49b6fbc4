#pragma once
#include <martello/graph/op_def.h>

namespace martello {

struct TileAttrs {
  std::vector<int64_t> counts = {};
  bool operator==(const TileAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("counts", self.counts); }
};
// x repeated counts[i] times along axis i.
Tensor tile(Operand x, std::vector<int64_t> counts, Name name = "tile");

extern const OpDef op_tile;

}  // namespace martello
