#pragma once
#include <martello/ops/conv2d.h>
#include <martello/ops/linear.h>
#include <martello/ops/pool.h>

#include <string>

namespace martello {

struct ConvPoolAttrs {
  Conv2DAttrs conv = {};
  LinearActivation activation = LinearActivation::none;  // after the bias
  PoolAttrs pool = {};
  bool operator==(const ConvPoolAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    Conv2DAttrs::fields(self.conv, f);
    f("activation", self.activation);
    PoolAttrs::fields(self.pool, [&](const char* name, auto& v) { f(("pool_" + std::string(name)).c_str(), v); });
  }
};

// max_pool(activation(conv2d(x, kernel) + bias)) without its index: the same bits as those ops, but what is between
// them is never written. The fuse pass makes it where our loops gain by it; they have no other convolutions (f32,
// channels last, one group; few numbers under a window, or 3x3 and pooled by 2x2). `inputs`: x, kernel and, if wanted,
// bias.
Tensor conv2d_max_pool(const std::vector<Operand>& inputs, ConvPoolAttrs attrs = {}, Name name = "conv2d_max_pool");
extern const OpDef op_conv2d_max_pool;

}  // namespace martello
