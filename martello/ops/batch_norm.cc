#include <martello/ops/activation.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/binary.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/addend.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/internal/norm_shape.h>
#include <martello/ops/norms.h>
#include <martello/ops/unary.h>

namespace martello {

Kernel batch_norm_training_cpu(const KernelPlan&);
Kernel batch_norm_training_grad_cpu(const KernelPlan&);
Kernel batch_norm_inference_cpu(const KernelPlan&);
Kernel batch_norm_inference_grad_cpu(const KernelPlan&);

namespace {

// That of the numbers; with widen, x has another one.
DType computed_dtype(const ShapeContext& c) { return c.attrs<BatchNormAttrs>().widen ? f32 : c.in[0].dtype; }

void check_norm_dtypes(const ShapeContext& c) {
  if (!c.attrs<BatchNormAttrs>().widen) return check_dtypes(c, kFloatingDTypes);
  c.check_dtype(0, bf16);
  for (size_t i = 1; i < c.in.size(); ++i) c.check_dtype(i, f32);
}

// Checks what all four ops share; inputs [1, numbers) have one number per channel. Gives their shape.
Shape check_batch(const ShapeContext& c, size_t numbers) {
  const auto& a = c.attrs<BatchNormAttrs>();
  const Shape& x = c.in[0].shape;
  check_norm_dtypes(c);
  MARTELLO_CHECK(x.rank() == 2 || x.rank() == 4, c.where(), "x ", x, " must be [N, C] or a batch of images, rank 4.");
  internal::check_epsilon(c, a.epsilon);
  MARTELLO_CHECK(!a.narrow || (computed_dtype(c) == f32 && a.data_format == DataFormat::nhwc), c.where(),
                 "narrow takes f32 with channels last (nhwc), not ", c.in[0].str(), " in ", a.data_format,
                 ". Use cast() after it.");
  MARTELLO_CHECK(!a.widen || a.data_format == DataFormat::nhwc, c.where(), "widen takes channels last (nhwc), not ",
                 a.data_format, ". Use cast() before it.");
  const int axis = channel_axis(a.data_format, x.rank());
  internal::check_channel_numbers(c, axis, 1, numbers);
  int64_t channels = internal::dim_of(x, axis);
  for (size_t i = 1; i < numbers; ++i) channels = internal::more_known(channels, internal::dim_of(c.in[i].shape, 0));
  return Shape(channels);
}

std::vector<TensorSpec> specs(const ShapeContext& c, const Shape& like_x, const Shape& numbers, size_t count) {
  const DType dtype = c.attrs<BatchNormAttrs>().narrow ? bf16 : computed_dtype(c);
  std::vector<TensorSpec> out = {{.shape = like_x, .dtype = dtype}};
  out.resize(1 + count, {.shape = numbers, .dtype = computed_dtype(c)});
  return out;
}
template <size_t numbers>
std::vector<TensorSpec> gradient_shape(const ShapeContext& c) {
  const Shape channels = check_batch(c, 5);
  internal::check_same_shape(c, "x", c.in[0].shape, "dy", c.in[5].shape);
  return specs(c, internal::more_known(c.in[0].shape, c.in[5].shape), channels, numbers);
}

Axes batch_axes(Tensor x, const BatchNormAttrs& a) {
  if (x.rank() == 2) return 0;
  return a.data_format == DataFormat::nhwc ? Axes(0, 1, 2) : Axes(0, 2, 3);
}

// `inputs`: those of the op without an addend.
void check_as_built(const GradContext& c, size_t inputs) {
  const auto& a = c.attrs<BatchNormAttrs>();
  internal::check_no_addend(c, inputs);
  MARTELLO_CHECK(!a.narrow && !a.widen, "[", c.op.type, " '", c.op.name, "'] its ", a.narrow ? "result" : "x",
                 " is rounded to bf16. Take gradients of the graph as it was built.");
}
// Of the ops with given statistics.
void check_not_widened(const ShapeContext& c) {
  MARTELLO_CHECK(!c.attrs<BatchNormAttrs>().widen, c.where(), "has no kernel with widen. Use cast() before it.");
}

std::optional<Attrs> narrowed(const KernelPlan& plan) {
  BatchNormAttrs a = plan.attrs<BatchNormAttrs>();
  if (a.data_format != DataFormat::nhwc) return std::nullopt;
  a.narrow = true;
  return Attrs(a);
}

// y of primitive ops.
Tensor composed(const TensorList& in, const BatchNormAttrs& a) {
  const int rank = in[0].rank(), axis = channel_axis(a.data_format, rank);
  const auto along = [&](Tensor t) { return internal::along_channels(t, axis, rank); };
  const Tensor scale = in[1] * rsqrt(in[4] + a.epsilon);
  const Tensor z = (in[0] - along(in[3])) * along(scale) + along(in[2]);
  return a.relu ? relu(z) : z;
}

TensorList training_gradient(const GradContext& c) {
  check_as_built(c, 3);
  const auto& a = c.attrs<BatchNormAttrs>();
  const Tensor x = c.input(0), dy = c.grad(0);
  TensorList d = {Tensor(), Tensor(), Tensor()}, statistics, slopes;
  if (!dy.is_null()) d = batch_norm_training_grad(x, c.input(1), c.input(2), c.output(1), c.output(2), dy, a);
  if (c.grad(1).is_null() && c.grad(2).is_null()) return d;
  const Moments of_x = moments(x, {.axes = batch_axes(x, a)});
  if (!c.grad(1).is_null()) statistics.push_back(of_x.mean), slopes.push_back(c.grad(1));
  if (!c.grad(2).is_null()) statistics.push_back(of_x.variance), slopes.push_back(c.grad(2));
  const Tensor dx = c.builder->gradients(statistics, x, slopes)[0];
  return {d[0].is_null() ? dx : d[0] + dx, d[1], d[2]};
}

// Mean and variance are computed from x once more, so that x has all of the gradient and they have none.
TensorList training_grad_gradient(const GradContext& c) {
  check_as_built(c, 6);
  const auto& a = c.attrs<BatchNormAttrs>();
  const Tensor x = c.input(0), gamma = c.input(1), beta = c.input(2), dy = c.input(5);
  const Moments of_x = moments(x, {.axes = batch_axes(x, a)});
  const Tensor y = composed({x, gamma, beta, of_x.mean, of_x.variance}, a);
  const TensorList dxs = c.builder->gradients(y, {x, gamma, beta}, dy);
  const TensorList d = internal::gradients_of_composition(c, dxs, {x, gamma, beta, dy});
  return {d[0], d[1], d[2], Tensor(), Tensor(), d[3]};
}

TensorList inference_gradient(const GradContext& c) {
  check_as_built(c, 5);
  return batch_norm_inference_grad(c.input(0), c.input(1), c.input(2), c.input(3), c.input(4), c.grad(0),
                                   c.attrs<BatchNormAttrs>());
}
TensorList inference_grad_gradient(const GradContext& c) {
  const TensorList in(std::vector<Tensor>(c.inputs.begin(), c.inputs.begin() + 5));
  const TensorList dxs = c.builder->gradients(composed(in, c.attrs<BatchNormAttrs>()), in, c.input(5));
  return internal::gradients_of_composition(c, dxs, c.inputs);
}

// `inputs`: those of the op without an addend, which is an image too.
template <size_t inputs>
std::optional<ChannelsLast> channels_last(std::span<const TensorSpec> in, std::span<const TensorSpec> out,
                                          const Attrs& attrs) {
  auto last = internal::images_with_channels_last<BatchNormAttrs>(in, out, attrs);
  if (last && in.size() > inputs) last->inputs.push_back(inputs);
  return last;
}

template <int passes>
Cost cost(std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs&) {
  return internal::passes_cost(in, passes);
}

}  // namespace

constinit const OpDef op_batch_norm_training = {
    .name = "batch_norm_training",
    .doc =
        "y = gamma (x - mean) / sqrt(variance + epsilon) + beta by channel, with the moments of x, then plus addend "
        "where fusion put it; relu(y) with `relu`",
    .inputs = {"x", "gamma", "beta", "addend..."},
    .outputs = {"y", "mean", "variance"},
    .attrs = &attrs_type<BatchNormAttrs>,
    .shape =
        [](const ShapeContext& c) {
          internal::check_addend(c, 3, c.in[0].shape, computed_dtype(c));
          return specs(c, c.in[0].shape, check_batch(c, 3), 2);
        },
    .gradient = training_gradient,
    .cpu = batch_norm_training_cpu,
    .in_place = {{{0, 0}, {3, 0}}},
    .cost = cost<3>,
    .narrowed = narrowed,
    .channels_last = channels_last<3>,
    .family = "Normalization",
};

constinit const OpDef op_batch_norm_training_grad = {
    .name = "batch_norm_training_grad",
    .doc =
        "dx = gamma r (dy - mean(dy) - (x - mean) r^2 mean(dy (x - mean))), r = 1 / sqrt(variance + epsilon); "
        "dgamma = r sum(dy (x - mean)); dbeta = sum(dy)",
    .inputs = {"x", "gamma", "beta", "mean", "variance", "dy"},
    .outputs = {"dx", "dgamma", "dbeta"},
    .attrs = &attrs_type<BatchNormAttrs>,
    .shape = gradient_shape<2>,
    .gradient = training_grad_gradient,
    .cpu = batch_norm_training_grad_cpu,
    .in_place = {{{5, 0}}},
    .cost = cost<5>,
    .narrowed = narrowed,
    .channels_last = internal::gradients_with_channels_last<BatchNormAttrs, 5>,
    .family = "Normalization",
};

constinit const OpDef op_batch_norm_inference = {
    .name = "batch_norm_inference",
    .doc =
        "y = gamma (x - mean) / sqrt(variance + epsilon) + beta by channel, then plus addend where fusion put it; "
        "relu(y) with `relu`",
    .inputs = {"x", "gamma", "beta", "mean", "variance", "addend..."},
    .outputs = {"y"},
    .attrs = &attrs_type<BatchNormAttrs>,
    .shape =
        [](const ShapeContext& c) {
          check_not_widened(c);
          internal::check_addend(c, 5, c.in[0].shape, computed_dtype(c));
          return specs(c, c.in[0].shape, check_batch(c, 5), 0);
        },
    .gradient = inference_gradient,
    .cpu = batch_norm_inference_cpu,
    .in_place = {{{0, 0}, {5, 0}}},
    .rows_of = [](const ShapeContext&, size_t input) { return internal::same_if(input == 0 || input == 5); },
    .cost = cost<2>,
    .narrowed = narrowed,
    .channels_last = channels_last<5>,
    .family = "Normalization",
};

constinit const OpDef op_batch_norm_inference_grad = {
    .name = "batch_norm_inference_grad",
    .doc =
        "dx = gamma r dy, r = 1 / sqrt(variance + epsilon); dgamma = r sum(dy (x - mean)); dbeta = sum(dy); "
        "dmean = -gamma r sum(dy); dvariance = -gamma r^3 sum(dy (x - mean)) / 2",
    .inputs = {"x", "gamma", "beta", "mean", "variance", "dy"},
    .outputs = {"dx", "dgamma", "dbeta", "dmean", "dvariance"},
    .attrs = &attrs_type<BatchNormAttrs>,
    .shape =
        [](const ShapeContext& c) {
          MARTELLO_CHECK(!c.attrs<BatchNormAttrs>().narrow, c.where(),
                         "has no kernel with narrow. Use cast() after it.");
          check_not_widened(c);
          return gradient_shape<4>(c);
        },
    .gradient = inference_grad_gradient,
    .cpu = batch_norm_inference_grad_cpu,
    .in_place = {{{5, 0}, {0, 0}}},
    .cost = cost<3>,
    .channels_last = internal::gradients_with_channels_last<BatchNormAttrs, 5>,
    .family = "Normalization",
};

BatchNormResult batch_norm_training(Operand x, Operand gamma, Operand beta, BatchNormAttrs attrs, Name name) {
  const TensorList out = outputs_of(add_operation(op_batch_norm_training, {x, gamma, beta}, Attrs(attrs), name));
  return {out[0], out[1], out[2]};
}
BatchNormResult batch_norm_training(Operand x, Operand gamma, Operand beta, Name name) {
  return batch_norm_training(x, gamma, beta, {}, name);
}
Tensor batch_norm_inference(Operand x, Operand gamma, Operand beta, Operand mean, Operand variance,
                            BatchNormAttrs attrs, Name name) {
  return add_op(op_batch_norm_inference, {x, gamma, beta, mean, variance}, attrs, name);
}
Tensor batch_norm_inference(Operand x, Operand gamma, Operand beta, Operand mean, Operand variance, Name name) {
  return batch_norm_inference(x, gamma, beta, mean, variance, {}, name);
}
TensorList batch_norm_training_grad(Operand x, Operand gamma, Operand beta, Operand mean, Operand variance, Operand dy,
                                    BatchNormAttrs attrs, Name name) {
  return outputs_of(
      add_operation(op_batch_norm_training_grad, {x, gamma, beta, mean, variance, dy}, Attrs(attrs), name));
}
TensorList batch_norm_inference_grad(Operand x, Operand gamma, Operand beta, Operand mean, Operand variance, Operand dy,
                                     BatchNormAttrs attrs, Name name) {
  return outputs_of(
      add_operation(op_batch_norm_inference_grad, {x, gamma, beta, mean, variance, dy}, Attrs(attrs), name));
}

}  // namespace martello
