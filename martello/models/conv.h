#pragma once
#include <martello/models/activation.h>
#include <martello/models/layer.h>
#include <martello/models/opt.h>
#include <martello/ops/data_format.h>
#include <martello/ops/padding.h>

namespace martello {

// Of conv2d and conv2d_transpose.
struct Conv2D {
  Opt<int> filters = unset(0);
  Opt<Size2> kernel = unset(3);
  Opt<Size2> stride = unset(1);
  Opt<Padding> padding = unset(Pad::same);
  Opt<Size2> dilation = unset(1);
  Opt<int> groups = unset(1);
  Opt<Activation> activation = unset(Activation());
  Opt<bool> use_bias = unset(true);
  Opt<Initializer> kernel_init = unset(Initializer());  // he_normal()
  Opt<Initializer> bias_init = unset(Initializer());    // zeros()
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  Opt<Regularizer> kernel_regularizer = unset(Regularizer());
  Opt<Regularizer> bias_regularizer = unset(Regularizer());
  static void fields(auto&& f, auto&... self) {
    f("filters", self.filters...);
    f("kernel", self.kernel...);
    f("stride", self.stride...);
    f("padding", self.padding...);
    f("dilation", self.dilation...);
    f("groups", self.groups...);
    f("activation", self.activation...);
    f("use_bias", self.use_bias...);
    f("kernel_init", self.kernel_init...);
    f("bias_init", self.bias_init...);
    f("data_format", self.data_format...);
    f("kernel_regularizer", self.kernel_regularizer...);
    f("bias_regularizer", self.bias_regularizer...);
  }
};
// activation(conv2d(x, W) + b). Variables: W [kernel, channels / groups, filters], b [filters].
LayerOutput conv2d(std::string_view name, Tensor x, Conv2D options = {}, SourceLine line = SourceLine::current());
// The gradient of a convolution as a layer: images grow by the stride. Variables: W [kernel, filters / groups,
// channels], b [filters].
LayerOutput conv2d_transpose(std::string_view name, Tensor x, Conv2D options = {},
                             SourceLine line = SourceLine::current());

struct DepthConv {
  Opt<int> filters = unset(0);  // a multiple of the channels; 0: as many
  Opt<Size2> kernel = unset(3);
  Opt<Size2> stride = unset(1);
  Opt<Padding> padding = unset(Pad::same);
  Opt<Size2> dilation = unset(1);
  Opt<Activation> activation = unset(Activation());
  Opt<bool> use_bias = unset(false);
  Opt<Initializer> kernel_init = unset(Initializer());  // normal, variance 2 / elements of a window
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  static void fields(auto&& f, auto&... self) {
    f("filters", self.filters...);
    f("kernel", self.kernel...);
    f("stride", self.stride...);
    f("padding", self.padding...);
    f("dilation", self.dilation...);
    f("activation", self.activation...);
    f("use_bias", self.use_bias...);
    f("kernel_init", self.kernel_init...);
    f("data_format", self.data_format...);
  }
};
// Every channel convolved for itself. Variables: W [kernel, channels, filters / channels], b [filters].
LayerOutput depth_conv(std::string_view name, Tensor x, DepthConv options = {},
                       SourceLine line = SourceLine::current());

}  // namespace martello
