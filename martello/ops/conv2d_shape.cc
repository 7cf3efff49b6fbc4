#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/addend.h>
#include <martello/ops/internal/conv_attrs.h>

#include <algorithm>

namespace martello::internal {
namespace {

void check_image(const ShapeContext& c, size_t i) {
  if (c.attrs<ConvOpAttrs>().widen) c.check_dtype(i, bf16);
  else c.check_floating(i);
  c.check_rank(i, 4);
}

DType result_dtype(const ShapeContext& c) { return c.attrs<ConvOpAttrs>().widen ? f32 : c.in[0].dtype; }

// Of input 1, which may lie packed.
Shape kernel_shape(const ShapeContext& c) {
  const auto& packing = c.attrs<ConvOpAttrs>().packing;
  c.check_same_dtype(1, 0);
  c.check_rank(1, packing.is_packed() ? 1 : 4);
  if (!packing.is_packed()) return c.in[1].shape;
  check_packing(c.where(), packing);
  MARTELLO_CHECK(may_be_equal(c.in[1].shape[0], packing.elements), c.where(), "the packed kernel ", c.in[1].str(),
                 " does not hold the ", packing.elements, " numbers of a kernel ", packing.kernel, ".");
  return packing.kernel;
}

// The shape that a gradient was asked for: nothing, or four sizes.
Shape asked_shape(const ShapeContext& c) {
  const Shape shape(asked_sizes(c, 2, c.attrs<ConvOpAttrs>().shape));
  MARTELLO_CHECK(shape.rank() == 0 || shape.rank() == 4, c.where(), "the gradient's shape is ", shape,
                 "; it needs four sizes.");
  return shape;
}

void check_bias(const ShapeContext& c, const ConvTask& task, int64_t channels) {
  MARTELLO_CHECK(task.has_bias || task.has_addend || !task.relu, c.where(),
                 "an activation comes with a bias. Use relu() after conv2d().");
  if (!task.has_bias) return;
  c.check_dtype(2, result_dtype(c));
  c.check_rank(2, 1);
  MARTELLO_CHECK(may_be_equal(c.in[2].shape[0], channels), c.where(), "the kernel gives ", channels,
                 " channels but bias has ", c.in[2].shape[0], " numbers. They must be equal.");
}

}  // namespace

std::vector<TensorSpec> conv2d_shape(const ShapeContext& c) {
  const auto& a = c.attrs<ConvOpAttrs>();
  check_image(c, 0);
  const ConvProblem problem(c.where(), c.in[0], kernel_shape(c), a.conv);
  const ConvTask task = conv2d_task(c.in, a.activation);
  check_bias(c, task, problem.out_channels);
  check_addend(c, static_cast<size_t>(task.addend()), problem.y_shape(), result_dtype(c));
  MARTELLO_CHECK(!a.narrow || (a.widen && !task.has_end()), c.where(),
                 "narrow comes with widen and without a bias, an addend or an activation. Use cast() after it.");
  return {{.shape = problem.y_shape(), .dtype = a.narrow ? bf16 : result_dtype(c)}};
}

namespace {

void check_not_narrow(const ShapeContext& c) {
  MARTELLO_CHECK(!c.attrs<ConvOpAttrs>().narrow, c.where(), "narrow is for conv2d alone. Use cast() after it.");
}

void check_gradient(const ShapeContext& c, size_t i, const ConvProblem& problem) {
  check_same_shape(c, "dy", c.in[i].shape, "the convolution", problem.y_shape());
}

// The size that conv2d_transpose() gives a dimension.
int64_t transposed_size(const ShapeContext& c, int axis, int64_t size, int64_t window) {
  const auto& a = c.attrs<ConvOpAttrs>().conv;
  if (size < 0) return kUnknown;
  const int64_t stride = std::max(a.stride[axis], 1), dilation = std::max(a.dilation[axis], 1);
  if (a.padding.rule() == Pad::same) return checked_mul(size, stride);
  if (window < 0) return kUnknown;
  const int64_t reach = checked_add(checked_mul(std::max<int64_t>(window - 1, 0), dilation), 1);
  const int64_t spread = checked_add(checked_mul(size - 1, stride), std::max(reach, stride));
  const int64_t left = spread - a.padding.before(axis) - a.padding.after(axis);
  MARTELLO_CHECK(left > 0, c.where(), "padding ", a.padding, " leaves nothing of ", axis == 0 ? "height" : "width", " ",
                 spread, ". Use less padding.");
  return left;
}

}  // namespace

std::vector<TensorSpec> grad_input_shape(const ShapeContext& c) {
  const auto& a = c.attrs<ConvOpAttrs>();
  check_not_narrow(c);
  check_image(c, 0);
  const Shape kernel = kernel_shape(c), asked = asked_shape(c), &dy = c.in[0].shape;
  const DataFormat format = a.conv.data_format;
  check_groups(c.where(), "output", dim_of(kernel, 3), a.conv.groups);
  Shape x(std::vector<int64_t>(4, kUnknown));
  x = x.with(0, dim_of(dy, 0));
  x = x.with(channel_axis(format, 4), kernel[2] < 0 ? kUnknown : checked_mul(kernel[2], a.conv.groups));
  for (int axis = 0; axis < 2; ++axis) {
    const int at = spatial_axis(format, axis);
    x = x.with(at, asked.rank() == 0 ? transposed_size(c, axis, dy[at], kernel[axis]) : dim_of(asked, at));
  }
  if (asked.rank() == 4) {
    check_same_shape(c, "x", asked, "the convolution", x);
    x = more_known(x, asked);
  }
  check_gradient(c, 0, ConvProblem(c.where(), {.shape = x, .dtype = c.in[0].dtype}, kernel, a.conv));
  return {{.shape = x, .dtype = result_dtype(c)}};
}

std::vector<TensorSpec> grad_kernel_shape(const ShapeContext& c) {
  const auto& a = c.attrs<ConvOpAttrs>();
  check_not_narrow(c);
  check_image(c, 0);
  check_image(c, 1);
  c.check_same_dtype(1, 0);
  if (a.packing.is_packed()) check_packing(c.where(), a.packing);
  const Shape asked = a.packing.is_packed() ? a.packing.kernel : asked_shape(c);
  MARTELLO_CHECK(asked.rank() == 4, c.where(), "needs the kernel's shape, four sizes.");
  const int channels = channel_axis(a.conv.data_format, 4);
  const int64_t in = c.in[0].shape[channels];
  check_groups(c.where(), "input", in, a.conv.groups);
  Shape kernel(dim_of(asked, 0), dim_of(asked, 1), in < 0 ? kUnknown : in / a.conv.groups,
               dim_of(c.in[1].shape, channels));
  check_same_shape(c, "the kernel", asked, "the convolution", kernel);
  kernel = more_known(kernel, asked);
  check_gradient(c, 1, ConvProblem(c.where(), c.in[0], kernel, a.conv));
  return {{.shape = a.packing.is_packed() ? Shape(a.packing.elements) : kernel, .dtype = result_dtype(c)}};
}

}  // namespace martello::internal
