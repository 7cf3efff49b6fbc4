#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/norm_shape.h>
#include <martello/ops/reshape.h>

#include <cmath>

namespace martello::internal {

void check_epsilon(const ShapeContext& c, double epsilon) {
  MARTELLO_CHECK(std::isfinite(epsilon) && epsilon >= 0, c.where(), "epsilon is ", epsilon,
                 "; it is added to a variance and must be a finite number, not negative.");
}

void check_channel_numbers(const ShapeContext& c, int axis, size_t first, size_t last) {
  const int64_t channels = dim_of(c.in[0].shape, axis);
  for (size_t i = first; i < last; ++i) {
    const Shape& v = c.in[i].shape;
    MARTELLO_CHECK(v.rank() == 1 && may_be_equal(dim_of(v, 0), channels), c.where(), input_name(c, i), " ", v,
                   " must be a vector of one number per channel, and x ", c.in[0].shape, " has ", c.in[0].shape[axis],
                   " channels in dimension ", axis, ".");
  }
}

Tensor along_channels(Tensor numbers, int axis, int rank) {
  if (axis == rank - 1) return numbers;
  std::vector<int64_t> dims(static_cast<size_t>(rank - axis), 1);
  dims[0] = kUnknown;
  return reshape(numbers, Shape(dims));
}

Cost passes_cost(std::span<const TensorSpec> in, double passes) {
  const double n = static_cast<double>(in[0].shape.num_elements());
  return {.flops = 4 * passes * n, .bytes = passes * n * static_cast<double>(size_of(in[0].dtype))};
}

TensorList gradients_of_composition(const GradContext& c, const TensorList& dxs, const TensorList& inputs) {
  TensorList ys, dys;
  for (size_t i = 0; i < dxs.size(); ++i) {
    if (c.grad(i).is_null() || dxs[i].is_null()) continue;
    ys.push_back(dxs[i]);
    dys.push_back(c.grad(i));
  }
  return c.builder->gradients(ys, inputs, dys);
}

}  // namespace martello::internal
