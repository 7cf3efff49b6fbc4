#include <martello/models/blocks.h>

#include <martello/base/error.h>
#include <martello/models/activations.h>
#include <martello/models/arg_scope.h>
#include <martello/models/batch_norm.h>
#include <martello/models/conv.h>
#include <martello/models/fully_connected.h>
#include <martello/models/internal/split_dim.h>
#include <martello/models/pooling.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/pad.h>
#include <martello/ops/reshape.h>
#include <martello/ops/transpose.h>

namespace martello {
namespace {

// One convolution of a block, without its activation.
Conv2D conv_options(int filters, int kernel, const Residual& o) {
  const int border = (kernel - 1) / 2;
  return {.filters = filters,
          .kernel = kernel,
          .stride = 1,
          .padding = {border, border, border, border},
          .activation = identity,
          .use_bias = false,
          .data_format = *o.data_format};
}

Conv2D with_stride(Conv2D conv, int stride, int groups = 1) {
  conv.stride = stride;
  conv.groups = groups;
  return conv;
}

Conv2D activated(Conv2D conv, const Residual& o) {
  conv.activation = [format = *o.data_format](Tensor y) {
    return relu(batch_norm("bn", y, {.data_format = format}), "relu");
  };
  return conv;
}

// The last of a block: normalized, but not activated, in order `post`.
Conv2D last(Conv2D conv, const Residual& o) {
  if (*o.order != ResidualOrder::post) return conv;
  conv.activation = [o](Tensor y) {
    return batch_norm("bn", y, {.gamma_init = *o.zero_gamma ? zeros() : ones(), .data_format = *o.data_format});
  };
  return conv;
}

Tensor pool_and_pad(const LayerScope& layer, Tensor x, int64_t channels, int filters, const Residual& o) {
  MARTELLO_CHECK(*o.stride <= 2 && filters >= channels && (filters - channels) % 2 == 0, layer.where(),
                 "a shortcut that pools and pads halves images and adds channels on both sides: stride ", *o.stride,
                 ", ", channels, " to ", filters, " channels. Use ResidualShortcut::projection.");
  const int64_t more = (filters - channels) / 2;
  if (*o.stride == 2)
    x = avg_pooling("pool", x, {.size = 2, .stride = 2, .padding = Pad::same, .data_format = *o.data_format});
  return more == 0 ? x : pad_channels(x, more, more, *o.data_format);
}

Tensor shortcut(const LayerScope& layer, Tensor x, int filters, const Residual& o) {
  const int64_t channels = layer.known_dim(x, channel_axis(*o.data_format, 4), "channels");
  if (channels == filters && *o.stride == 1) return x;
  if (*o.shortcut == ResidualShortcut::pool_and_pad) return pool_and_pad(layer, x, channels, filters, o);
  Conv2D conv = with_stride(conv_options(filters, 1, o), *o.stride);
  if (*o.order == ResidualOrder::post)
    conv.activation = [format = *o.data_format](Tensor y) { return batch_norm("bn", y, {.data_format = format}); };
  return conv2d("convshortcut", x, std::move(conv));
}

using Branch = Tensor (*)(Tensor x, const Residual& o);

Tensor basic_branch(Tensor x, const Residual& o) {
  x = conv2d("conv1", x, activated(with_stride(conv_options(*o.filters, 3, o), *o.stride), o));
  return conv2d("conv2", x, last(conv_options(*o.filters, 3, o), o));
}

Tensor bottleneck_branch(Tensor x, const Residual& o) {
  x = conv2d("conv1", x, activated(conv_options(*o.filters, 1, o), o));
  x = conv2d("conv2", x, activated(with_stride(conv_options(*o.filters, 3, o), *o.stride, *o.groups), o));
  return conv2d("conv3", x, last(conv_options(*o.filters * 4, 1, o), o));
}

LayerOutput residual(const LayerCall& call, const Residual& o, Branch branch, int expansion) {
  return build_layer(call, [&](LayerScope& layer) {
    layer.check_rank(call.input, {4});
    layer.check_positive("filters", *o.filters);
    layer.check_positive("stride", *o.stride);
    Tensor x = call.input;
    if (*o.order == ResidualOrder::pre) {
      ArgScope format(BatchNorm{.data_format = *o.data_format});
      x = bn_relu("preact", x);
    }
    const Tensor direct = shortcut(layer, call.input, *o.filters * expansion, o);
    Tensor y = branch(x, o);
    if (*o.squeeze_ratio > 0) y = squeeze_excite("se", y, {.ratio = *o.squeeze_ratio, .data_format = *o.data_format});
    return *o.order == ResidualOrder::post ? relu(y + direct) : y + direct;
  });
}

}  // namespace

Tensor channel_shuffle(Tensor x, int groups, DataFormat data_format, Name name) {
  const int axis = channel_axis(data_format, 4);
  const std::string where = str("[channel_shuffle '", name.text(), "'] ");
  return with_line(name.line(), [&] {
    MARTELLO_CHECK(!x.is_null() && x.rank() == 4, where, "takes a batch of images.");
    const int64_t channels = x.dim(axis);
    MARTELLO_CHECK(channels > 0, where, "needs channels, of known number; x is ", x.shape(), ".");
    MARTELLO_CHECK(groups > 0 && channels % groups == 0, where, "groups is ", groups, ", which does not divide the ",
                   channels, " channels of x ", x.shape(), ".");
    std::vector<int> perm = {0, 1, 2, 3, 4};
    std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(axis) + 1]);
    return reshape(transpose(internal::split_dim(x, axis, channels / groups), perm), extents_like(x), name);
  });
}

LayerOutput squeeze_excite(std::string_view name, Tensor x, SqueezeExcite options, SourceLine line) {
  const SqueezeExcite o = with_arg_scope(std::move(options));
  const LayerCall call{.type = "squeeze_excite", .name = name, .input = x, .line = line, .logs_shape = false};
  return build_layer(call, [&](LayerScope& layer) {
    layer.check_rank(x, {4});
    layer.check_positive("ratio", *o.ratio);
    const int axis = channel_axis(*o.data_format, 4);
    const auto channels = static_cast<int>(layer.known_dim(x, axis, "channels"));
    MARTELLO_CHECK(channels >= *o.ratio, layer.where(), "ratio is ", *o.ratio, ", more than the ", channels,
                   " channels of x ", x.shape(), ".");
    Tensor s = global_avg_pooling("gap", x, {.data_format = *o.data_format});
    s = fully_connected("fc1", s, {.units = channels / *o.ratio, .activation = relu});
    s = fully_connected("fc2", s, {.units = channels, .activation = sigmoid});
    return x * reshape(s, *o.data_format == DataFormat::nhwc ? Shape(-1, 1, 1, channels) : Shape(-1, channels, 1, 1));
  });
}

LayerOutput residual_basic(std::string_view name, Tensor x, Residual options, SourceLine line) {
  return residual({.type = "residual_basic", .name = name, .input = x, .line = line},
                  with_arg_scope(std::move(options)), basic_branch, 1);
}

LayerOutput residual_bottleneck(std::string_view name, Tensor x, Residual options, SourceLine line) {
  return residual({.type = "residual_bottleneck", .name = name, .input = x, .line = line},
                  with_arg_scope(std::move(options)), bottleneck_branch, 4);
}

}  // namespace martello
