#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/data_format.h>
#include <martello/ops/padding.h>

// Windows that slide over a batch of images, each channel by itself. Padded cells do not exist: they are never the
// largest, and an average does not count them.
namespace martello {

struct PoolAttrs {
  Size2 size = 2;
  Size2 stride = 0;  // 0: the size
  Padding padding = Pad::valid;
  DataFormat data_format = DataFormat::nhwc;
  bool operator==(const PoolAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("size_h", self.size.h);
    f("size_w", self.size.w);
    f("stride_h", self.stride.h);
    f("stride_w", self.stride.w);
    Padding::fields(self.padding, f);
    f("data_format", self.data_format);
  }
};
// The largest element of each window; NaN when one is.
Tensor max_pool(Operand x, PoolAttrs attrs = {}, Name name = "max_pool");
Tensor max_pool(Operand x, Name name);
// The mean of each window.
Tensor avg_pool(Operand x, PoolAttrs attrs = {}, Name name = "avg_pool");
Tensor avg_pool(Operand x, Name name);
extern const OpDef op_max_pool, op_avg_pool;

// The mean of all pixels, [N, C].
Tensor global_avg_pool(Operand x, DataFormat data_format = DataFormat::nhwc, Name name = "global_avg_pool");
// Each pixel becomes a tile: the matrix times the pixel. Of a size alone: the pixel at the top left, zeros beside it.
Tensor unpool(Operand x, Operand matrix, DataFormat data_format = DataFormat::nhwc, Name name = "unpool");
Tensor unpool(Operand x, Size2 size, DataFormat data_format = DataFormat::nhwc, Name name = "unpool");

struct PoolGradAttrs {
  PoolAttrs pool = {};
  Shape image = {};  // height and width of x; not looked at when they come as an input
  bool operator==(const PoolGradAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    PoolAttrs::fields(self.pool, f);
    f("image", self.image);
  }
};
extern const OpDef op_max_pool_grad, op_avg_pool_grad, op_max_pool_take;

}  // namespace martello
