#include <martello/models/dropout.h>

#include <martello/base/error.h>
#include <martello/models/arg_scope.h>
#include <martello/models/internal/training.h>
#include <martello/ops/dropout.h>
#include <martello/ops/identity.h>

namespace martello {

LayerOutput dropout(std::string_view name, Tensor x, Dropout options, SourceLine line) {
  const Dropout o = with_arg_scope(std::move(options));
  const LayerCall call{
      .type = "dropout", .name = name, .input = x, .line = line, .logs_shape = false, .output = nullptr};
  return build_layer(call, [&](LayerScope& layer) {
    MARTELLO_CHECK(*o.rate >= 0 && *o.rate < 1, layer.where(), "rate is ", *o.rate,
                   ": it is the part that is dropped, at least 0 and below 1.");
    return internal::is_training(layer, o.training) ? dropout(x, {.rate = *o.rate}) : identity(x, "dropout");
  });
}

}  // namespace martello
