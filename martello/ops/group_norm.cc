#include <martello/ops/binary.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/dims.h>
#include <martello/ops/group_norm.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/internal/norm_shape.h>
#include <martello/ops/norms.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/ops/unary.h>

namespace martello {

Kernel group_norm_cpu(const KernelPlan&);
Kernel group_norm_grad_cpu(const KernelPlan&);

namespace {

// The shape of mean and variance, [N, groups].
Shape check_groups(const ShapeContext& c) {
  const auto& a = c.attrs<GroupNormAttrs>();
  const Shape& x = c.in[0].shape;
  check_dtypes(c, kFloatingDTypes);
  MARTELLO_CHECK(x.rank() == 2 || x.rank() == 4, c.where(), "x ", x, " must be [N, C] or a batch of images, rank 4.");
  internal::check_epsilon(c, a.epsilon);
  const int axis = channel_axis(a.data_format, x.rank());
  const int64_t channels = internal::dim_of(x, axis);
  MARTELLO_CHECK(a.groups >= 0, c.where(), "groups is ", a.groups, "; it must be at least 1, or 0 for each channel.");
  MARTELLO_CHECK(channels < 0 || a.groups == 0 || channels % a.groups == 0, c.where(), "x ", x, " has ", channels,
                 " channels in dimension ", axis, ", which ", a.groups, " groups do not divide.");
  return Shape(internal::dim_of(x, 0), a.groups == 0 ? channels : a.groups);
}

std::vector<TensorSpec> group_norm_shape(const ShapeContext& c) {
  const Shape moments = check_groups(c);
  const TensorSpec& x = c.in[0];
  internal::check_channel_numbers(c, channel_axis(c.attrs<GroupNormAttrs>().data_format, x.shape.rank()), 1, 3);
  return {
      {.shape = x.shape, .dtype = x.dtype}, {.shape = moments, .dtype = x.dtype}, {.shape = moments, .dtype = x.dtype}};
}

std::vector<TensorSpec> group_norm_grad_shape(const ShapeContext& c) {
  const Shape moments = check_groups(c);
  const TensorSpec& x = c.in[0];
  const int axis = channel_axis(c.attrs<GroupNormAttrs>().data_format, x.shape.rank());
  internal::check_channel_numbers(c, axis, 1, 2);
  internal::check_same_shape(c, "mean", c.in[2].shape, "[N, groups]", moments);
  internal::check_same_shape(c, "variance", c.in[3].shape, "[N, groups]", moments);
  internal::check_same_shape(c, "dy", c.in[4].shape, "x", x.shape);
  const Shape numbers(internal::more_known(internal::dim_of(x.shape, axis), internal::dim_of(c.in[1].shape, 0)));
  return {{.shape = internal::more_known(x.shape, c.in[4].shape), .dtype = x.dtype},
          {.shape = numbers, .dtype = x.dtype},
          {.shape = numbers, .dtype = x.dtype}};
}

// x as [N, pixels, groups, channels of a group] or [N, groups, channels of a group, pixels].
Tensor in_groups(Tensor x, const GroupNormAttrs& a) {
  const bool is_last = channel_axis(a.data_format, x.rank()) == x.rank() - 1;
  const Tensor sizes = shape(x), rows = sizes[0], channels = sizes[channel_axis(a.data_format, x.rank())];
  if (a.groups == 0) return is_last ? reshape(x, {rows, -1, channels, 1}) : reshape(x, {rows, channels, 1, -1});
  const Tensor members = floor_div(channels, a.groups);
  return is_last ? reshape(x, {rows, -1, a.groups, members}) : reshape(x, {rows, a.groups, members, -1});
}

// (x - mean) / sqrt(variance + epsilon) of primitive ops.
Tensor composed(Tensor x, const GroupNormAttrs& a) {
  const bool is_last = channel_axis(a.data_format, x.rank()) == x.rank() - 1;
  const Tensor grouped = in_groups(x, a);
  const Moments m = moments(grouped, {.axes = is_last ? Axes(1, 3) : Axes(2, 3), .keep_dims = true});
  return reshape((grouped - m.mean) * rsqrt(m.variance + a.epsilon), extents_like(x));
}

TensorList group_norm_gradient(const GradContext& c) {
  MARTELLO_CHECK(c.grad(1).is_null() && c.grad(2).is_null(), "[group_norm '", c.op.name,
                 "'] only y has a gradient, not the mean and the variance. Use moments() for those.");
  return group_norm_grad(c.input(0), c.input(1), c.output(1), c.output(2), c.grad(0), c.attrs<GroupNormAttrs>());
}

// Mean and variance are computed from x once more, so that x has all of the gradient and they have none.
TensorList group_norm_grad_gradient(const GradContext& c) {
  const auto& a = c.attrs<GroupNormAttrs>();
  const Tensor x = c.input(0), gamma = c.input(1), dy = c.input(4);
  const int axis = channel_axis(a.data_format, x.rank());
  const Tensor beta = zeros_like(gamma);
  const Tensor y =
      composed(x, a) * internal::along_channels(gamma, axis, x.rank()) + internal::along_channels(beta, axis, x.rank());
  const TensorList dxs = c.builder->gradients(y, {x, gamma, beta}, dy);
  const TensorList d = internal::gradients_of_composition(c, dxs, {x, gamma, dy});
  return {d[0], d[1], Tensor(), Tensor(), d[2]};
}

}  // namespace

constinit const OpDef op_group_norm = {
    .name = "group_norm",
    .doc = "y = gamma (x - mean) / sqrt(variance + epsilon) + beta, moments over a sample's groups of channels",
    .inputs = {"x", "gamma", "beta"},
    .outputs = {"y", "mean", "variance"},
    .attrs = &attrs_type<GroupNormAttrs>,
    .shape = group_norm_shape,
    .gradient = group_norm_gradient,
    .cpu = group_norm_cpu,
    .in_place = {{{0, 0}}},
    .rows_of = [](const ShapeContext&, size_t input) { return internal::same_if(input == 0); },
    .cost = [](std::span<const TensorSpec> in, std::span<const TensorSpec>,
               const Attrs&) { return internal::passes_cost(in, 3); },
    .channels_last = internal::images_with_channels_last<GroupNormAttrs>,
    .family = "Normalization",
};

constinit const OpDef op_group_norm_grad = {
    .name = "group_norm_grad",
    .doc =
        "dx = r (gamma dy - mean(gamma dy) - (x - mean) r^2 mean(gamma dy (x - mean))), r = 1 / sqrt(variance + "
        "epsilon), means over a group; dgamma = sum(r dy (x - mean)); dbeta = sum(dy)",
    .inputs = {"x", "gamma", "mean", "variance", "dy"},
    .outputs = {"dx", "dgamma", "dbeta"},
    .attrs = &attrs_type<GroupNormAttrs>,
    .shape = group_norm_grad_shape,
    .gradient = group_norm_grad_gradient,
    .cpu = group_norm_grad_cpu,
    .in_place = {{{4, 0}, {0, 0}}},
    .cost = [](std::span<const TensorSpec> in, std::span<const TensorSpec>,
               const Attrs&) { return internal::passes_cost(in, 5); },
    .channels_last = internal::gradients_with_channels_last<GroupNormAttrs, 4>,
    .family = "Normalization",
};

Tensor group_norm(Operand x, Operand gamma, Operand beta, GroupNormAttrs attrs, Name name) {
  return add_op(op_group_norm, {x, gamma, beta}, attrs, name);
}
Tensor group_norm(Operand x, Operand gamma, Operand beta, Name name) { return group_norm(x, gamma, beta, {}, name); }
Tensor instance_norm(Operand x, Operand gamma, Operand beta, InstanceNormAttrs attrs, Name name) {
  return group_norm(x, gamma, beta, {.groups = 0, .epsilon = attrs.epsilon, .data_format = attrs.data_format}, name);
}
Tensor instance_norm(Operand x, Operand gamma, Operand beta, Name name) {
  return instance_norm(x, gamma, beta, {}, name);
}
TensorList group_norm_grad(Operand x, Operand gamma, Operand mean, Operand variance, Operand dy, GroupNormAttrs attrs,
                           Name name) {
  return outputs_of(add_operation(op_group_norm_grad, {x, gamma, mean, variance, dy}, Attrs(attrs), name));
}

}  // namespace martello
