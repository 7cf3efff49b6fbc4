#include <martello/models/internal/normalize.h>

#include <martello/graph/core_ops.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/compare.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/ops/unary.h>
#include <martello/ops/where.h>

namespace martello::internal {

Affine make_affine(LayerScope& layer, int64_t channels, DType dtype, const AffineOptions& options) {
  const auto make = [&](const char* name, bool exists, const Initializer& init, double fallback) -> Tensor {
    if (!exists) return constant(HostTensor::full({channels}, dtype, fallback), name);
    return layer.variable(name,
                          {.shape = {channels}, .dtype = dtype, .initializer = init ? init : constant_init(fallback)});
  };
  const Tensor beta = make("beta", options.center, options.beta_init, 0);
  return {make("gamma", options.scale, options.gamma_init, 1), beta};
}

int norm_axis(const LayerScope& layer, const Tensor& x, DataFormat format) {
  layer.check_rank(x, {2, 4});
  return channel_axis(format, x.rank());
}

Axes reduced_axes(const Tensor& x, int channel_axis) {
  std::vector<int> axes;
  for (int i = 0; i < x.rank(); ++i)
    if (i != channel_axis) axes.push_back(i);
  return Axes(axes);
}

Tensor per_channel(Tensor v, const Tensor& x, int channel_axis) {
  if (channel_axis == x.rank() - 1) return v;
  std::vector<int64_t> dims(static_cast<size_t>(x.rank()), 1);
  dims[static_cast<size_t>(channel_axis)] = -1;
  return reshape(v, Shape(dims));
}

Tensor normalize(Tensor x, const Moments& moments, const Affine& affine, double epsilon) {
  const Tensor factor = affine.gamma * rsqrt(moments.variance + epsilon);
  return x * factor + (affine.beta - moments.mean * factor);
}

Operation update_average(Variable v, Tensor value, double momentum, const Tensor& x) {
  Tensor taken = stop_gradient(value);
  if (!x.shape().is_known() || x.shape().num_elements() == 0) taken = where(size(x) > 0, taken, v);
  return assign_sub(v, (v - taken) * (1 - momentum));
}

}  // namespace martello::internal
