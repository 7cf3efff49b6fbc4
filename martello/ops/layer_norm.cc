#include <martello/ops/binary.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/internal/norm_shape.h>
#include <martello/ops/layer_norm.h>
#include <martello/ops/norms.h>
#include <martello/ops/unary.h>

namespace martello {

Kernel layer_norm_cpu(const KernelPlan&);
Kernel layer_norm_grad_cpu(const KernelPlan&);

namespace {

struct LayerAxes {
  int begin = 0, channel = 0;
};
LayerAxes check_layer(const ShapeContext& c) {
  const auto& a = c.attrs<LayerNormAttrs>();
  const Shape& x = c.in[0].shape;
  check_dtypes(c, kFloatingDTypes);
  internal::check_epsilon(c, a.epsilon);
  const int begin = c.check_axis(0, a.begin_axis), channel = channel_axis(a.data_format, x.rank());
  MARTELLO_CHECK(begin <= channel && channel < x.rank(), c.where(), "gamma and beta lie along axis ", channel, " of x ",
                 x, " (", a.data_format, "), which must not be before begin_axis ", begin, ".");
  return {begin, channel};
}

std::vector<TensorSpec> layer_norm_shape(const ShapeContext& c) {
  const LayerAxes axes = check_layer(c);
  const TensorSpec& x = c.in[0];
  internal::check_channel_numbers(c, axes.channel, 1, 3);
  const TensorSpec moments{.shape = x.shape.slice(0, axes.begin), .dtype = x.dtype};
  return {{.shape = x.shape, .dtype = x.dtype}, moments, moments};
}

std::vector<TensorSpec> layer_norm_grad_shape(const ShapeContext& c) {
  const LayerAxes axes = check_layer(c);
  const TensorSpec& x = c.in[0];
  internal::check_channel_numbers(c, axes.channel, 1, 2);
  internal::check_same_shape(c, "mean", c.in[2].shape, "x before begin_axis", x.shape.slice(0, axes.begin));
  internal::check_same_shape(c, "variance", c.in[3].shape, "x before begin_axis", x.shape.slice(0, axes.begin));
  internal::check_same_shape(c, "dy", c.in[4].shape, "x", x.shape);
  const Shape numbers(
      internal::more_known(internal::dim_of(x.shape, axes.channel), internal::dim_of(c.in[1].shape, 0)));
  return {{.shape = internal::more_known(x.shape, c.in[4].shape), .dtype = x.dtype},
          {.shape = numbers, .dtype = x.dtype},
          {.shape = numbers, .dtype = x.dtype}};
}

TensorList layer_norm_gradient(const GradContext& c) {
  MARTELLO_CHECK(c.grad(1).is_null() && c.grad(2).is_null(), "[layer_norm '", c.op.name,
                 "'] only y has a gradient, not the mean and the variance. Use moments() for those.");
  return layer_norm_grad(c.input(0), c.input(1), c.output(1), c.output(2), c.grad(0), c.attrs<LayerNormAttrs>());
}

// Mean and variance are computed from x once more, so that x has all of the gradient and they have none.
TensorList layer_norm_grad_gradient(const GradContext& c) {
  const auto& a = c.attrs<LayerNormAttrs>();
  const Tensor x = c.input(0), gamma = c.input(1), beta = zeros_like(gamma), dy = c.input(4);
  std::vector<int> axes;
  for (int i = normalized_axis(a.begin_axis, x.rank()); i < x.rank(); ++i) axes.push_back(i);
  const Moments m = moments(x, {.axes = Axes(axes), .keep_dims = true});
  const int channel = channel_axis(a.data_format, x.rank());
  const auto along = [&](Tensor t) { return internal::along_channels(t, channel, x.rank()); };
  const Tensor y = (x - m.mean) * rsqrt(m.variance + a.epsilon) * along(gamma) + along(beta);
  const TensorList dxs = c.builder->gradients(y, {x, gamma, beta}, dy);
  const TensorList d = internal::gradients_of_composition(c, dxs, {x, gamma, dy});
  return {d[0], d[1], Tensor(), Tensor(), d[2]};
}

}  // namespace

constinit const OpDef op_layer_norm = {
    .name = "layer_norm",
    .doc = "y = gamma (x - mean) / sqrt(variance + epsilon) + beta, moments over `begin_axis` and all axes after it",
    .inputs = {"x", "gamma", "beta"},
    .outputs = {"y", "mean", "variance"},
    .attrs = &attrs_type<LayerNormAttrs>,
    .shape = layer_norm_shape,
    .gradient = layer_norm_gradient,
    .cpu = layer_norm_cpu,
    .in_place = {{{0, 0}}},
    .rows_of =
        [](const ShapeContext& c, size_t input) {
          return internal::same_if(input == 0 && c.check_axis(0, c.attrs<LayerNormAttrs>().begin_axis) > 0);
        },
    .cost = [](std::span<const TensorSpec> in, std::span<const TensorSpec>,
               const Attrs&) { return internal::passes_cost(in, 2); },
    .channels_last = internal::images_with_channels_last<LayerNormAttrs>,
    .family = "Normalization",
};

constinit const OpDef op_layer_norm_grad = {
    .name = "layer_norm_grad",
    .doc =
        "dx = r (gamma dy - mean(gamma dy) - (x - mean) r^2 mean(gamma dy (x - mean))), r = 1 / sqrt(variance + "
        "epsilon); dgamma = sum(r dy (x - mean)); dbeta = sum(dy)",
    .inputs = {"x", "gamma", "mean", "variance", "dy"},
    .outputs = {"dx", "dgamma", "dbeta"},
    .attrs = &attrs_type<LayerNormAttrs>,
    .shape = layer_norm_grad_shape,
    .gradient = layer_norm_grad_gradient,
    .cpu = layer_norm_grad_cpu,
    .in_place = {{{4, 0}, {0, 0}}},
    .cost = [](std::span<const TensorSpec> in, std::span<const TensorSpec>,
               const Attrs&) { return internal::passes_cost(in, 3); },
    .channels_last = internal::gradients_with_channels_last<LayerNormAttrs, 4>,
    .family = "Normalization",
};

Tensor layer_norm(Operand x, Operand gamma, Operand beta, LayerNormAttrs attrs, Name name) {
  return add_op(op_layer_norm, {x, gamma, beta}, attrs, name);
}
Tensor layer_norm(Operand x, Operand gamma, Operand beta, Name name) { return layer_norm(x, gamma, beta, {}, name); }
TensorList layer_norm_grad(Operand x, Operand gamma, Operand mean, Operand variance, Operand dy, LayerNormAttrs attrs,
                           Name name) {
  return outputs_of(add_operation(op_layer_norm_grad, {x, gamma, mean, variance, dy}, Attrs(attrs), name));
}

}  // namespace martello
