#include <martello/models/norms.h>

#include <martello/base/error.h>
#include <martello/models/arg_scope.h>
#include <martello/models/internal/normalize.h>
#include <martello/ops/group_norm.h>
#include <martello/ops/layer_norm.h>

namespace martello {
namespace {

// The fields that the three have in common.
template <class Options>
internal::Affine affine_of(LayerScope& layer, const Tensor& x, int axis, const Options& o) {
  MARTELLO_CHECK(*o.epsilon > 0, layer.where(), "epsilon is ", *o.epsilon, "; it is greater than 0.");
  return internal::make_affine(layer, layer.known_dim(x, axis, "channels"), x.dtype(),
                               {*o.center, *o.scale, {}, *o.gamma_init});
}

template <class Options>
Tensor norm_of_groups(LayerScope& layer, const Tensor& x, int64_t groups, const Options& o) {
  const auto affine = affine_of(layer, x, channel_axis(*o.data_format, 4), o);
  return group_norm(x, affine.gamma, affine.beta,
                    {.groups = groups, .epsilon = *o.epsilon, .data_format = *o.data_format});
}

}  // namespace

LayerOutput layer_norm(std::string_view name, Tensor x, LayerNorm options, SourceLine line) {
  const LayerNorm o = with_arg_scope(std::move(options));
  const LayerCall call{.type = "layer_norm", .name = name, .input = x, .line = line, .logs_shape = false};
  return build_layer(call, [&](LayerScope& layer) {
    layer.check_rank(x, {2, 3, 4});
    if (x.rank() == 4) return norm_of_groups(layer, x, 1, o);
    const auto affine = affine_of(layer, x, x.rank() - 1, o);
    return layer_norm(x, affine.gamma, affine.beta, {.epsilon = *o.epsilon, .begin_axis = x.rank() - 1});
  });
}

LayerOutput instance_norm(std::string_view name, Tensor x, InstanceNorm options, SourceLine line) {
  const InstanceNorm o = with_arg_scope(std::move(options));
  const LayerCall call{.type = "instance_norm", .name = name, .input = x, .line = line, .logs_shape = false};
  return build_layer(call, [&](LayerScope& layer) {
    layer.check_rank(x, {4});
    return norm_of_groups(layer, x, layer.known_dim(x, channel_axis(*o.data_format, 4), "channels"), o);
  });
}

LayerOutput group_norm(std::string_view name, Tensor x, GroupNorm options, SourceLine line) {
  const GroupNorm o = with_arg_scope(std::move(options));
  const LayerCall call{.type = "group_norm", .name = name, .input = x, .line = line, .logs_shape = false};
  return build_layer(call, [&](LayerScope& layer) {
    layer.check_rank(x, {4});
    layer.check_positive("groups", *o.groups);
    const int64_t channels = layer.known_dim(x, channel_axis(*o.data_format, 4), "channels");
    MARTELLO_CHECK(channels % *o.groups == 0, layer.where(), "groups is ", *o.groups, ", which does not divide the ",
                   channels, " channels of x ", x.shape(), ".");
    return norm_of_groups(layer, x, *o.groups, o);
  });
}

}  // namespace martello
