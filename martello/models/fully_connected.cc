#include <martello/models/fully_connected.h>

#include <martello/base/error.h>
#include <martello/models/arg_scope.h>
#include <martello/models/internal/weights.h>
#include <martello/ops/bias_add.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reshape.h>

namespace martello {

LayerOutput fully_connected(std::string_view name, Tensor x, FullyConnected options, SourceLine line) {
  options = with_arg_scope(std::move(options));
  return build_layer({.type = "fully_connected", .name = name, .input = x, .line = line}, [&](LayerScope& layer) {
    layer.check_positive("units", *options.units);
    MARTELLO_CHECK(x.rank() >= 1, layer.where(), "x is a scalar; the layer takes a batch [N, ...].");
    const Tensor flat = x.rank() == 2 ? x : flatten(x);
    const int64_t in = layer.known_dim(flat, 1, "elements of a sample");
    Tensor y = matmul(flat, internal::make_kernel(layer, {in, *options.units}, x.dtype(), *options.kernel_init,
                                                  *options.kernel_regularizer));
    if (*options.use_bias)
      y = bias_add(
          y, internal::make_bias(layer, *options.units, x.dtype(), *options.bias_init, *options.bias_regularizer));
    return (*options.activation)(y);
  });
}

}  // namespace martello
