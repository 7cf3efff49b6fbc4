#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/data_format.h>

// What shape functions and gradients of the normalizations share.
namespace martello::internal {

// Throws unless epsilon is a finite number, not negative.
void check_epsilon(const ShapeContext& c, double epsilon);
// Throws unless inputs [first, last) are vectors of as many numbers as dimension `axis` of input 0 has.
void check_channel_numbers(const ShapeContext& c, int axis, size_t first, size_t last);
// A vector of one number per channel in the shape that broadcasts against x.
Tensor along_channels(Tensor numbers, int axis, int rank);
// Bytes of so many passes over input 0, and flops to go with them.
Cost passes_cost(std::span<const TensorSpec> in, double passes);

// d(fused gradient op): the gradients of what `dxs`, made of primitive ops, are by `inputs`. Null where nothing leads.
TensorList gradients_of_composition(const GradContext& c, const TensorList& dxs, const TensorList& inputs);

}  // namespace martello::internal
