#pragma once
#include <martello/models/layer.h>
#include <martello/ops/data_format.h>
#include <martello/ops/norms.h>

// What the normalization layers share.
namespace martello::internal {

struct Affine {
  Tensor gamma, beta;  // constants where the layer has no variable
};
struct AffineOptions {
  bool center = true, scale = true;
  Initializer beta_init = {}, gamma_init = {};
};
// "beta" and "gamma", [channels].
Affine make_affine(LayerScope& layer, int64_t channels, DType dtype, const AffineOptions& options);

// Channels of x, [N, C] or images.
int norm_axis(const LayerScope& layer, const Tensor& x, DataFormat format);
// All axes but that of channels.
Axes reduced_axes(const Tensor& x, int channel_axis);
// A vector of one number per channel in the shape that broadcasts against x.
Tensor per_channel(Tensor v, const Tensor& x, int channel_axis);
// x gamma / sqrt(variance + epsilon) + (beta - mean gamma / sqrt(variance + epsilon)), all of shapes that broadcast.
Tensor normalize(Tensor x, const Moments& moments, const Affine& affine, double epsilon);

// v = momentum v + (1 - momentum) value, a moment of x; v stays when x is empty. Several updates of one variable in a
// run add up.
Operation update_average(Variable v, Tensor value, double momentum, const Tensor& x);

}  // namespace martello::internal
