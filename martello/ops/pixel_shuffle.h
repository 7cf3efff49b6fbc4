#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/data_format.h>

namespace martello {

// How a channel of the smaller image is counted: place (i, j) of the block and channel c.
enum class PixelOrder {
  channel_major,  // (c * block + i) * block + j
  block_major,    // (i * block + j) * channels + c
};
std::vector<std::string> enum_names(PixelOrder);

struct PixelShuffleAttrs {
  int64_t block = 2;
  PixelOrder order = PixelOrder::channel_major;
  DataFormat data_format = DataFormat::nhwc;
  bool operator==(const PixelShuffleAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("block", self.block);
    f("order", self.order);
    f("data_format", self.data_format);
  }
};
// Images `block` times as high and wide, with block^2 times fewer channels: each pixel's channels become a block of
// pixels.
Tensor pixel_shuffle(Operand x, PixelShuffleAttrs attrs = {}, Name name = "pixel_shuffle");
// And back.
Tensor pixel_unshuffle(Operand x, PixelShuffleAttrs attrs = {}, Name name = "pixel_unshuffle");
// The same two in block-major order.
Tensor depth_to_space(Operand x, int64_t block, DataFormat data_format = DataFormat::nhwc,
                      Name name = "depth_to_space");
Tensor space_to_depth(Operand x, int64_t block, DataFormat data_format = DataFormat::nhwc,
                      Name name = "space_to_depth");

extern const OpDef op_pixel_shuffle, op_pixel_unshuffle;

}  // namespace martello
