#include <martello/base/error.h>
#include <martello/ops/compare.h>
#include <martello/ops/internal/addend.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/internal/conv_library.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/ops/where.h>

namespace martello {

Kernel conv2d_cpu(const KernelPlan&);
Kernel conv2d_grad_input_cpu(const KernelPlan&);
Kernel conv2d_grad_kernel_cpu(const KernelPlan&);

namespace {

using internal::ConvDirection;
using internal::ConvOpAttrs;

// What gradients pass on as a shape: known sizes as they are, else those of the run.
Extents shape_for_gradient(Tensor t, int first) {
  const bool is_known = t.dim(first) >= 0 && t.dim(first + 1) >= 0;
  return is_known ? Extents(t.shape().without_symbols()) : Extents(shape(t));
}
Extents image_extents(Tensor x, const Conv2DAttrs& a) {
  return shape_for_gradient(x, internal::spatial_axis(a.data_format, 0));
}

void check_as_built(const GradContext& c) {
  const auto& a = c.attrs<ConvOpAttrs>();
  MARTELLO_CHECK(!a.packing.is_packed() && !a.widen, "[", c.op.type, " '", c.op.name, "'] its ",
                 a.widen ? "factors are rounded to bf16" : "kernel is packed",
                 ". Take gradients of the graph as it was built.");
}

Tensor bias_gradient(Tensor dy, const Conv2DAttrs& a) {
  return reduce_sum(dy, {.axes = a.data_format == DataFormat::nhwc ? Axes{0, 1, 2} : Axes{0, 2, 3}});
}

// y = conv(x, w) + b; relu: dz = dy where y > 0, else 0
TensorList conv2d_gradient(const GradContext& c) {
  check_as_built(c);
  const auto& a = c.attrs<ConvOpAttrs>();
  const bool has_bias = c.inputs.size() > 2 && c.input(2).rank() == 1;
  internal::check_no_addend(c, has_bias ? 3 : 2);
  Tensor dz = c.grad(0);
  if (a.activation == LinearActivation::relu) dz = where(c.output(0) > 0, dz, 0.0);
  std::vector<Tensor> list(c.inputs.size());
  if (c.needed[0]) list[0] = conv2d_grad_input(dz, c.input(1), image_extents(c.input(0), a.conv), a.conv);
  if (c.needed[1]) list[1] = conv2d_grad_kernel(c.input(0), dz, shape_for_gradient(c.input(1), 0), a.conv);
  if (has_bias && c.needed[2]) list[2] = bias_gradient(dz, a.conv);
  return list;
}

// x = grad_input(dy, w), linear in both: d(dy) = conv(dx, w), d(w) = grad_kernel(dx, dy)
TensorList grad_input_gradient(const GradContext& c) {
  check_as_built(c);
  const auto& a = c.attrs<ConvOpAttrs>();
  std::vector<Tensor> list(c.inputs.size());
  if (c.needed[0]) list[0] = conv2d(c.grad(0), c.input(1), a.conv);
  if (c.needed[1]) list[1] = conv2d_grad_kernel(c.grad(0), c.input(0), shape_for_gradient(c.input(1), 0), a.conv);
  return list;
}

// w = grad_kernel(x, dy), linear in both: d(x) = grad_input(dy, dw), d(dy) = conv(x, dw)
TensorList grad_kernel_gradient(const GradContext& c) {
  check_as_built(c);
  const auto& a = c.attrs<ConvOpAttrs>();
  std::vector<Tensor> list(c.inputs.size());
  if (c.needed[0]) list[0] = conv2d_grad_input(c.input(1), c.grad(0), image_extents(c.input(0), a.conv), a.conv);
  if (c.needed[1]) list[1] = conv2d(c.input(0), c.grad(0), a.conv);
  return list;
}

template <ConvDirection direction>
Cost conv_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs& attrs) {
  const auto problem = internal::conv_problem(direction, "", in, out, attrs.get<ConvOpAttrs>());
  Cost cost{2 * problem.multiplications(), 0};
  for (auto list : {in.first(2), out})
    for (const TensorSpec& t : list)
      cost.bytes += static_cast<double>(t.shape.num_elements()) * static_cast<double>(size_of(t.dtype));
  return cost;
}

template <ConvDirection direction>
std::optional<Attrs> widened(const KernelPlan& plan) {
  ConvOpAttrs attrs = plan.attrs<ConvOpAttrs>();
  attrs.widen = true;
  auto problem = internal::conv_problem(direction, plan.op.where(), plan.in, plan.out, attrs);
  problem.dtype = bf16;
  const bool is_for_it = internal::is_for_library(problem) && internal::gains_by_bf16(problem, direction);
  const bool has_it = is_for_it && !internal::wanted_kernel(plan.op, problem, direction, plan.threads).is_null();
  return has_it ? std::optional(Attrs(attrs)) : std::nullopt;
}

std::optional<Attrs> narrowed(const KernelPlan& plan) {
  ConvOpAttrs a = plan.attrs<ConvOpAttrs>();
  if (!a.widen || internal::conv2d_task(plan.in, a.activation).has_end()) return std::nullopt;
  a.narrow = true;
  return Attrs(a);
}

// The library's convolutions of such images take several times as long, and ours want them with channels last.
template <ConvDirection direction>
std::optional<ChannelsLast> channels_last(std::span<const TensorSpec> in, std::span<const TensorSpec> out,
                                          const Attrs& attrs) {
  ConvOpAttrs a = attrs.get<ConvOpAttrs>();
  if (a.conv.data_format == DataFormat::nhwc || a.packing.is_packed()) return std::nullopt;
  a.conv.data_format = DataFormat::nhwc;
  ChannelsLast last{.inputs = {0}, .outputs = {0}, .gains = in[0].dtype == f32};
  if (direction == ConvDirection::forward) {
    const auto task = internal::conv2d_task(in, a.activation);
    if (task.has_addend) last.inputs.push_back(task.addend());
  }
  if (direction == ConvDirection::grad_kernel) last.inputs.push_back(1), last.outputs.clear();
  if (direction == ConvDirection::grad_input) a.shape = internal::with_channels_last(out[0].shape);
  if (direction == ConvDirection::grad_kernel) a.shape = out[0].shape;
  if (direction != ConvDirection::forward) last.sizes = 2;
  last.attrs = Attrs(a);
  return last;
}

}  // namespace

constinit const OpDef op_conv2d = {
    .name = "conv2d",
    .doc =
        "y[n, i, j, o] = sum over h, w, c of x[n, i s + h d - top, j s + w d - left, c] kernel[h, w, c, o], then "
        "plus bias (a vector), plus addend (like y), and activation where fusion put them",
    .inputs = {"x", "kernel", "bias_addend..."},
    .outputs = {"y"},
    .attrs = &attrs_type<ConvOpAttrs>,
    .shape = internal::conv2d_shape,
    .gradient = conv2d_gradient,
    .cpu = conv2d_cpu,
    .cost = conv_cost<ConvDirection::forward>,
    .widened = widened<ConvDirection::forward>,
    .narrowed = narrowed,
    .channels_last = channels_last<ConvDirection::forward>,
    .family = "Images",
};

constinit const OpDef op_conv2d_grad_input = {
    .name = "conv2d_grad_input",
    .doc = "dx of y = conv2d(x, kernel); without a shape that of conv2d_transpose(dy, kernel)",
    .inputs = {"dy", "kernel", "shape..."},
    .outputs = {"dx"},
    .attrs = &attrs_type<ConvOpAttrs>,
    .shape = internal::grad_input_shape,
    .gradient = grad_input_gradient,
    .cpu = conv2d_grad_input_cpu,
    .cost = conv_cost<ConvDirection::grad_input>,
    .widened = widened<ConvDirection::grad_input>,
    .channels_last = channels_last<ConvDirection::grad_input>,
    .family = "Images",
};

constinit const OpDef op_conv2d_grad_kernel = {
    .name = "conv2d_grad_kernel",
    .doc = "dkernel of y = conv2d(x, kernel)",
    .inputs = {"x", "dy", "shape..."},
    .outputs = {"dkernel"},
    .attrs = &attrs_type<ConvOpAttrs>,
    .shape = internal::grad_kernel_shape,
    .gradient = grad_kernel_gradient,
    .cpu = conv2d_grad_kernel_cpu,
    .cost = conv_cost<ConvDirection::grad_kernel>,
    .widened = widened<ConvDirection::grad_kernel>,
    .channels_last = channels_last<ConvDirection::grad_kernel>,
    .family = "Images",
};

Tensor conv2d(Operand x, Operand kernel, Conv2DAttrs attrs, Name name) {
  return add_op(op_conv2d, {x, kernel}, ConvOpAttrs{.conv = attrs}, name);
}
Tensor conv2d(Operand x, Operand kernel, Name name) { return conv2d(x, kernel, Conv2DAttrs{}, name); }

Tensor conv2d_transpose(Operand x, Operand kernel, Conv2DAttrs attrs, Name name) {
  return add_op(op_conv2d_grad_input, {x, kernel}, ConvOpAttrs{.conv = attrs}, name);
}
Tensor conv2d_transpose(Operand x, Operand kernel, Name name) {
  return conv2d_transpose(x, kernel, Conv2DAttrs{}, name);
}

Tensor conv2d_grad_input(Operand dy, Operand kernel, Extents x_shape, Conv2DAttrs attrs, Name name) {
  return add_op(op_conv2d_grad_input, with_extents({dy, kernel}, x_shape, name),
                ConvOpAttrs{.conv = attrs, .shape = x_shape.shape()}, name);
}

Tensor conv2d_grad_kernel(Operand x, Operand dy, Extents kernel_shape, Conv2DAttrs attrs, Name name) {
  return add_op(op_conv2d_grad_kernel, with_extents({x, dy}, kernel_shape, name),
                ConvOpAttrs{.conv = attrs, .shape = kernel_shape.shape()}, name);
}

namespace {

int64_t channels_of(Tensor x, DataFormat format) { return x.rank() == 4 ? x.dim(channel_axis(format, 4)) : kUnknown; }

// [height, width, channels, multiplier] as the kernel of one group per channel; the numbers lie alike.
Tensor grouped_kernel(Tensor kernel) {
  const Shape& s = kernel.shape();
  if (s.is_known()) return reshape(kernel, Shape(s[0], s[1], 1, s.num_elements(2, 4)));
  const Tensor sizes = shape(kernel);
  return reshape(kernel, {sizes[0], sizes[1], 1, sizes[2] * sizes[3]});
}

}  // namespace

Tensor depthwise_conv2d(Operand x, Operand kernel, Conv2DAttrs attrs, Name name) {
  return with_line(x.line(), [&] {
    const std::string where = str("[depthwise_conv2d '", name.text(), "'] ");
    MARTELLO_CHECK(!x.is_number() && !kernel.is_number(), where, "needs tensors but was given a number.");
    const Tensor w = kernel.tensor();
    MARTELLO_CHECK(w.rank() == 4, where, "the kernel is ", w.shape(),
                   "; it needs four dimensions, [height, width, channels, multiplier].");
    MARTELLO_CHECK(attrs.groups == 1, where, "groups is ", attrs.groups, "; every channel is its own group. Leave it.");
    const int64_t channels = channels_of(x.tensor(), attrs.data_format);
    MARTELLO_CHECK(channels < 0 || w.dim(2) < 0 || channels == w.dim(2), where, "x ", x.tensor().shape(), " (",
                   attrs.data_format, ") has ", channels, " channels but the kernel ", w.shape(), " has ", w.dim(2),
                   ". It needs one window per channel and multiplier.");
    attrs.groups = w.dim(2) >= 0 ? w.dim(2) : channels;
    MARTELLO_CHECK(attrs.groups >= 1, where, "the number of channels is ", attrs.groups, " in the kernel ", w.shape(),
                   " and in x ", x.tensor().shape(), "; one of them must say it, and it must be at least 1.");
    return conv2d(x, Operand(grouped_kernel(w), kernel.line()), attrs, name);
  });
}
Tensor depthwise_conv2d(Operand x, Operand kernel, Name name) {
  return depthwise_conv2d(x, kernel, Conv2DAttrs{}, name);
}

}  // namespace martello
