#pragma once
#include <martello/ops/internal/conv_attrs.h>
#include <martello/ops/reorder.h>

namespace martello::internal {

// Names the convolution that a kernel is packed for.
struct ReorderAttrs {
  ConvDirection direction = ConvDirection::forward;
  Conv2DAttrs conv = {};
  Shape x = {};
  KernelPacking packing = {};
  bool operator==(const ReorderAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("direction", self.direction);
    Conv2DAttrs::fields(self.conv, f);
    f("x", self.x);
    KernelPacking::fields(self.packing, f);
  }
};
}  // namespace martello::internal
