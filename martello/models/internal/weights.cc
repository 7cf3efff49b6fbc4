#include <martello/models/internal/weights.h>

#include <martello/ops/initializers.h>

namespace martello::internal {

Variable make_kernel(LayerScope& layer, Shape shape, DType dtype, const Initializer& init,
                     const Regularizer& regularizer) {
  return layer.variable("W", {.shape = std::move(shape),
                              .dtype = dtype,
                              .initializer = init ? init : he_normal(),
                              .regularizer = regularizer});
}

Variable make_bias(LayerScope& layer, int64_t size, DType dtype, const Initializer& init,
                   const Regularizer& regularizer) {
  return layer.variable(
      "b", {.shape = {size}, .dtype = dtype, .initializer = init ? init : zeros(), .regularizer = regularizer});
}

}  // namespace martello::internal
