#include <martello/models/conv.h>

#include <martello/base/error.h>
#include <martello/models/arg_scope.h>
#include <martello/models/internal/weights.h>
#include <martello/ops/bias_add.h>
#include <martello/ops/conv2d.h>
#include <martello/ops/initializers.h>

#include <cmath>

namespace martello {
namespace {

int64_t channels_of(const LayerScope& layer, const Tensor& x, DataFormat format) {
  layer.check_rank(x, {4});
  return layer.known_dim(x, channel_axis(format, 4), "channels");
}

void check_sizes(const LayerScope& layer, const Conv2D& o, int64_t channels) {
  layer.check_positive("filters", *o.filters);
  layer.check_positive("kernel", std::min(o.kernel->h, o.kernel->w));
  layer.check_positive("groups", *o.groups);
  MARTELLO_CHECK(channels % *o.groups == 0 && *o.filters % *o.groups == 0, layer.where(), "groups is ", *o.groups,
                 ", which does not divide the ", channels, " channels of x and the ", *o.filters, " filters.");
}

Conv2DAttrs attrs_of(const Conv2D& o) {
  return {.stride = *o.stride,
          .padding = *o.padding,
          .dilation = *o.dilation,
          .groups = *o.groups,
          .data_format = *o.data_format};
}

Tensor finish(LayerScope& layer, const Conv2D& o, Tensor y) {
  if (*o.use_bias) {
    const Variable b = internal::make_bias(layer, *o.filters, y.dtype(), *o.bias_init, *o.bias_regularizer);
    y = bias_add(y, b, {.data_format = *o.data_format});
  }
  return (*o.activation)(y);
}

}  // namespace

LayerOutput conv2d(std::string_view name, Tensor x, Conv2D options, SourceLine line) {
  const Conv2D o = with_arg_scope(std::move(options));
  return build_layer({.type = "conv2d", .name = name, .input = x, .line = line}, [&](LayerScope& layer) {
    const int64_t channels = channels_of(layer, x, *o.data_format);
    check_sizes(layer, o, channels);
    const Shape shape(o.kernel->h, o.kernel->w, channels / *o.groups, *o.filters);
    const Variable w = internal::make_kernel(layer, shape, x.dtype(), *o.kernel_init, *o.kernel_regularizer);
    return finish(layer, o, conv2d(x, w, attrs_of(o)));
  });
}

LayerOutput conv2d_transpose(std::string_view name, Tensor x, Conv2D options, SourceLine line) {
  const Conv2D o = with_arg_scope(std::move(options));
  return build_layer({.type = "conv2d_transpose", .name = name, .input = x, .line = line}, [&](LayerScope& layer) {
    const int64_t channels = channels_of(layer, x, *o.data_format);
    check_sizes(layer, o, channels);
    const Shape shape(o.kernel->h, o.kernel->w, *o.filters / *o.groups, channels);
    const Variable w = internal::make_kernel(layer, shape, x.dtype(), *o.kernel_init, *o.kernel_regularizer);
    return finish(layer, o, conv2d_transpose(x, w, attrs_of(o)));
  });
}

LayerOutput depth_conv(std::string_view name, Tensor x, DepthConv options, SourceLine line) {
  const DepthConv o = with_arg_scope(std::move(options));
  return build_layer({.type = "depth_conv", .name = name, .input = x, .line = line}, [&](LayerScope& layer) {
    const int64_t channels = channels_of(layer, x, *o.data_format);
    const int64_t filters = *o.filters == 0 ? channels : *o.filters;
    layer.check_positive("filters", filters);
    layer.check_positive("kernel", std::min(o.kernel->h, o.kernel->w));
    MARTELLO_CHECK(filters % channels == 0, layer.where(), "filters is ", filters, ", not a multiple of the ", channels,
                   " channels of x: each channel gets as many filters.");
    const Shape shape(o.kernel->h, o.kernel->w, channels, filters / channels);
    // An output sees one channel only, which the shape does not say.
    const double stddev = std::sqrt(2.0 / (o.kernel->h * o.kernel->w));
    const Initializer init = *o.kernel_init ? *o.kernel_init : random_normal_init(stddev);
    Tensor y = depthwise_conv2d(
        x, internal::make_kernel(layer, shape, x.dtype(), init, {}),
        {.stride = *o.stride, .padding = *o.padding, .dilation = *o.dilation, .data_format = *o.data_format});
    if (*o.use_bias)
      y = bias_add(y, internal::make_bias(layer, filters, x.dtype(), {}, {}), {.data_format = *o.data_format});
    return (*o.activation)(y);
  });
}

}  // namespace martello
