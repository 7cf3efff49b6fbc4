#pragma once
#include <martello/graph/op_def.h>

// Blocks of space as batches, and back.
namespace martello {

struct BlockAttrs {
  std::vector<int64_t> block = {};   // per spatial axis, from axis 1 on
  std::vector<int64_t> before = {};  // padding of space_to_batch_nd, cropping of batch_to_space_nd; none: 0
  std::vector<int64_t> after = {};
  bool operator==(const BlockAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("block", self.block);
    f("before", self.before);
    f("after", self.after);
  }
};
// [N, S..., rest] to [N * blocks, (S + padding) / block ..., rest]; batch n of place o in the block is o * N + n.
Tensor space_to_batch_nd(Operand x, BlockAttrs attrs, Name name = "space_to_batch_nd");
// The inverse.
Tensor batch_to_space_nd(Operand x, BlockAttrs attrs, Name name = "batch_to_space_nd");

extern const OpDef op_space_to_batch_nd, op_batch_to_space_nd;

}  // namespace martello
