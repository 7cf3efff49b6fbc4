#include <martello/models/activations.h>

#include <martello/base/error.h>
#include <martello/models/activation.h>
#include <martello/models/arg_scope.h>
#include <martello/models/batch_norm.h>
#include <martello/models/internal/split_dim.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/concat.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>

namespace martello {

Activation::Activation(Tensor (*op)(Operand, Name)) : function_([op](Tensor x) { return op(x, "activation"); }) {}
Activation::Activation(Function layer) : function_(layer) {}

LayerOutput prelu(std::string_view name, Tensor x, PReLU options, SourceLine line) {
  const PReLU o = with_arg_scope(std::move(options));
  const LayerCall call{.type = "prelu", .name = name, .input = x, .line = line, .logs_shape = false, .output = nullptr};
  return build_layer(call, [&](LayerScope& layer) {
    const Variable alpha =
        layer.variable("alpha", {.shape = {}, .dtype = x.dtype(), .initializer = constant_init(*o.init)});
    return multiply((1 + alpha) * x + (1 - alpha) * abs(x), 0.5, "prelu");
  });
}

Tensor bn_relu(Tensor x) { return relu(batch_norm("bn", x)); }

LayerOutput bn_relu(std::string_view name, Tensor x, SourceLine line) {
  const LayerCall call{
      .type = "bn_relu", .name = name, .input = x, .line = line, .logs_shape = false, .output = nullptr};
  return build_layer(call, [&](LayerScope&) { return bn_relu(x); });
}

LayerOutput maxout(std::string_view name, Tensor x, Maxout options, SourceLine line) {
  const Maxout o = with_arg_scope(std::move(options));
  return build_layer({.type = "maxout", .name = name, .input = x, .line = line}, [&](LayerScope& layer) {
    layer.check_rank(x, {2, 4});
    layer.check_positive("units", *o.units);
    const int64_t channels = layer.known_dim(x, x.rank() - 1, "channels");
    MARTELLO_CHECK(channels % *o.units == 0, layer.where(), "units is ", *o.units, ", which does not divide the ",
                   channels, " channels of x ", x.shape(), ".");
    return reduce_max(internal::split_dim(x, x.rank() - 1, *o.units), {.axes = -1});
  });
}

LayerOutput concat_with(std::string_view name, Tensor x, TensorList others, int axis, SourceLine line) {
  const LayerCall call{.type = "concat_with", .name = name, .input = x, .line = line, .output = nullptr};
  return build_layer(call, [&](LayerScope& layer) {
    MARTELLO_CHECK(!others.empty(), layer.where(), "there is no tensor to put beside x. Pass at least one.");
    TensorList all{x};
    for (const Tensor& t : others) all.push_back(t);
    return concat(all, axis);
  });
}

}  // namespace martello
