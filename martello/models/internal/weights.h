#pragma once
#include <martello/models/layer.h>

namespace martello::internal {

// "W"; without an initializer he_normal(): untruncated, variance 2 / fan_in.
Variable make_kernel(LayerScope& layer, Shape shape, DType dtype, const Initializer& init,
                     const Regularizer& regularizer);
// "b" [size]; without an initializer zeros().
Variable make_bias(LayerScope& layer, int64_t size, DType dtype, const Initializer& init,
                   const Regularizer& regularizer);

}  // namespace martello::internal
