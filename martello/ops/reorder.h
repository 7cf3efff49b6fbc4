#pragma once
#include <martello/ops/internal/conv_attrs.h>

namespace martello {

// Names the convolution that a kernel is packed for.
struct ReorderAttrs {
  internal::ConvDirection direction = internal::ConvDirection::forward;
  Conv2DAttrs conv = {};
  Shape x = {};
  internal::KernelPacking packing = {};
  bool operator==(const ReorderAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("direction", self.direction);
    Conv2DAttrs::fields(self.conv, f);
    f("x", self.x);
    internal::KernelPacking::fields(self.packing, f);
  }
};
// A convolution's kernel in the library's layout, or for direction grad_kernel out of it. The assign_layout pass makes
// it; f32.
extern const OpDef op_reorder;

}  // namespace martello
