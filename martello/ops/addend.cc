#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/addend.h>

namespace martello::internal {

void check_addend(const ShapeContext& c, size_t inputs, const Shape& shape, DType dtype) {
  MARTELLO_CHECK(c.in.size() <= inputs + 1, c.where(), "takes ", inputs,
                 " inputs and one that is added to the result, but was given ", c.in.size(), ".");
  if (c.in.size() <= inputs) return;
  c.check_floating(inputs);
  c.check_dtype(inputs, dtype);
  check_same_shape(c, "the result", shape, "addend", c.in[inputs].shape);
}

void check_no_addend(const GradContext& c, size_t inputs) {
  MARTELLO_CHECK(c.inputs.size() <= inputs, "[", c.op.type, " '", c.op.name, "'] '",
                 c.inputs[c.inputs.size() - 1].name(),
                 "' is added to its result. Take gradients of the graph as it was built.");
}

}  // namespace martello::internal
