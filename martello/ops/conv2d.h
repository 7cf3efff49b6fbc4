#pragma once
#include <martello/ops/data_format.h>
#include <martello/ops/extents.h>
#include <martello/ops/padding.h>

namespace martello {

struct Conv2DAttrs {
  Size2 stride = 1;
  Padding padding = Pad::same;
  Size2 dilation = 1;
  int64_t groups = 1;  // channels in as many equal parts, each seen by its own part of the kernel
  DataFormat data_format = DataFormat::nhwc;
  bool operator==(const Conv2DAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("stride_h", self.stride.h);
    f("stride_w", self.stride.w);
    Padding::fields(self.padding, f);
    f("dilation_h", self.dilation.h);
    f("dilation_w", self.dilation.w);
    f("groups", self.groups);
    f("data_format", self.data_format);
  }
};

// y[n, i, j, o] = sum over h, w, c of x[n, i s + h d - top, j s + w d - left, c] kernel[h, w, c, o], x 0 in the
// padding. kernel is [height, width, input channels / groups, output channels] in both data formats. f32 and f64.
Tensor conv2d(Operand x, Operand kernel, Conv2DAttrs attrs = {}, Name name = "conv2d");
Tensor conv2d(Operand x, Operand kernel, Name name);

// Spreads each pixel of x by the kernel [height, width, output channels / groups, input channels], as the gradient of
// conv2d() does. Images grow: same padding gives size * stride, valid (size - 1) stride + max(window, stride), numbers
// that much less the padding.
Tensor conv2d_transpose(Operand x, Operand kernel, Conv2DAttrs attrs = {}, Name name = "conv2d_transpose");
Tensor conv2d_transpose(Operand x, Operand kernel, Name name);

// Every channel for itself, with `multiplier` kernels each: kernel [height, width, channels, multiplier], output
// channel c * multiplier + m. `groups` stays 1.
Tensor depthwise_conv2d(Operand x, Operand kernel, Conv2DAttrs attrs = {}, Name name = "depthwise_conv2d");
Tensor depthwise_conv2d(Operand x, Operand kernel, Name name);

// The gradients of conv2d() by x and by kernel, for an x and a kernel of this shape. Only height and width are read.
Tensor conv2d_grad_input(Operand dy, Operand kernel, Extents x_shape, Conv2DAttrs attrs = {},
                         Name name = "conv2d_grad_input");
Tensor conv2d_grad_kernel(Operand x, Operand dy, Extents kernel_shape, Conv2DAttrs attrs = {},
                          Name name = "conv2d_grad_kernel");

extern const OpDef op_conv2d, op_conv2d_grad_input, op_conv2d_grad_kernel;

}  // namespace martello
