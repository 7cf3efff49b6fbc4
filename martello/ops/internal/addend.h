#pragma once
#include <martello/graph/op_def.h>

// A tensor like its result that an op adds to it, before an activation: the last input, which the fuse pass gives.
namespace martello::internal {

// Throws unless there is at most one input beyond the first `inputs`, and it is like the result.
void check_addend(const ShapeContext& c, size_t inputs, const Shape& shape, DType dtype);
// Throws if there is one: gradients are of ops as they are built.
void check_no_addend(const GradContext& c, size_t inputs);

}  // namespace martello::internal
