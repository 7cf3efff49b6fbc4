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
  bool widen = false;   // of the convolution: the packed kernel is bf16, but for grad_kernel
  bool narrow = false;  // of the convolution
  bool operator==(const ReorderAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("direction", self.direction);
    Conv2DAttrs::fields(self.conv, f);
    f("x", self.x);
    KernelPacking::fields(self.packing, f);
    f("widen", self.widen);
    f("narrow", self.narrow);
  }
};
}  // namespace martello::internal
