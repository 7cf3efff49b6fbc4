#pragma once
#include <martello/graph/op_def.h>
#include <martello/kernel/cpu/elementwise.h>
#include <martello/ops/fused.h>

namespace martello::internal {

// The shape that each output of a body has for inputs of these shapes. Refuses a body that is not made of element-wise
// ops over scalar constants, or that computes in two dtypes.
std::vector<Shape> body_shapes(const ShapeContext& c, const Subgraph& body);

cpu::ElementwiseProgram body_program(const Subgraph& body);

}  // namespace martello::internal
