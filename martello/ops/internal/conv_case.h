#pragma once
#include <martello/ops/internal/conv_attrs.h>

namespace martello::testing {

// A convolution that a test computes.
struct ConvCase {
  Shape x, kernel;
  Conv2DAttrs conv = {};
};

inline internal::ConvProblem problem_of(const ConvCase& c, DType dtype = f32) {
  return {"", {.shape = c.x, .dtype = dtype}, c.kernel, c.conv};
}

}  // namespace martello::testing
