#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/conv_attrs.h>

namespace martello::internal {

void check_groups(const std::string& where, const char* name, int64_t channels, int64_t groups) {
  MARTELLO_CHECK(groups >= 1, where, "groups is ", groups, "; it must be at least 1.");
  MARTELLO_CHECK(channels < 0 || channels % groups == 0, where, groups, " groups do not divide the ", channels, " ",
                 name, " channels.");
}

void check_packing(const std::string& where, const KernelPacking& packing) {
  constexpr int kMostThreads = 4096;
  const bool is_ok = packing.is_packed() && packing.kernel.rank() == 4 && packing.kernel.is_known() &&
                     packing.threads >= 1 && packing.threads <= kMostThreads;
  MARTELLO_CHECK(is_ok, where, "a kernel ", packing.kernel, " cannot be packed into ", packing.elements,
                 " numbers for ", packing.threads, " threads: it needs four sizes, and 1 to ", kMostThreads,
                 " threads.");
}

ConvProblem::ConvProblem(const std::string& where, const TensorSpec& x, const Shape& kernel, const Conv2DAttrs& attrs)
    : groups(attrs.groups), format(attrs.data_format), dtype(x.dtype) {
  batch = dim_of(x.shape, 0);
  in_channels = dim_of(x.shape, channel_axis(format, 4));
  out_channels = dim_of(kernel, 3);
  check_groups(where, "input", in_channels, groups);
  check_groups(where, "output", out_channels, groups);
  const bool fits = in_channels < 0 || kernel[2] < 0 || in_channels / groups == kernel[2];
  MARTELLO_CHECK(fits, where, "images ", x.shape, " (", format, ") have ", in_channels, " channels but the kernel ",
                 kernel, " takes ", kernel[2], " in each of ", groups, " groups.");
  for (int axis = 0; axis < 2; ++axis)
    axes[axis] = window_axis(where, axis, dim_of(x.shape, spatial_axis(format, axis)), dim_of(kernel, axis),
                             attrs.stride, attrs.dilation, attrs.padding);
}

Shape ConvProblem::image_shape(int64_t height, int64_t width, int64_t channels) const {
  return format == DataFormat::nhwc ? Shape(batch, height, width, channels) : Shape(batch, channels, height, width);
}

double ConvProblem::multiplications() const {
  double count = static_cast<double>(batch) * static_cast<double>(out_channels) * static_cast<double>(in_channels) /
                 static_cast<double>(groups);
  for (const WindowAxis& a : axes) count *= static_cast<double>(a.out) * static_cast<double>(a.window);
  return count;
}

ConvProblem conv_problem(ConvDirection direction, const std::string& where, std::span<const TensorSpec> in,
                         std::span<const TensorSpec> out, const ConvOpAttrs& attrs) {
  const TensorSpec& x = direction == ConvDirection::grad_input ? out[0] : in[0];
  const Shape& kernel = attrs.packing.is_packed()                 ? attrs.packing.kernel
                        : direction == ConvDirection::grad_kernel ? out[0].shape
                                                                  : in[1].shape;
  ConvProblem problem(where, {.shape = x.shape, .dtype = in[0].dtype}, kernel, attrs.conv);
  problem.is_narrow = attrs.narrow;
  return problem;
}

ConvTask conv2d_task(std::span<const TensorSpec> in, LinearActivation activation) {
  ConvTask task{.relu = activation == LinearActivation::relu};
  task.has_bias = in.size() > 2 && in[2].shape.rank() != 4;
  task.has_addend = in.size() > static_cast<size_t>(task.addend());
  return task;
}

bool ConvProblem::has_no_elements() const { return batch == 0 || in_channels == 0 || out_channels == 0; }

}  // namespace martello::internal
