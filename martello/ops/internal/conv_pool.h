#pragma once
#include <martello/ops/internal/conv_attrs.h>
#include <martello/ops/internal/pool_shape.h>

namespace martello::internal {

// Those of our ways to convolve whose loops can pool the result as well, by the name of that way; null without any.
const char* find_pooling_loops(const ConvProblem& conv, const PoolAxes& windows);

}  // namespace martello::internal
