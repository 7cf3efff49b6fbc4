#include <martello/ops/binary.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/lrn.h>
#include <martello/ops/unary.h>

namespace martello {

Kernel channel_window_sum_cpu(const KernelPlan&);

constinit const OpDef op_channel_window_sum = {
    .name = "channel_window_sum",
    .doc = "y[i] = x[i - radius] + ... + x[i + radius] along `axis`; what lies outside counts as 0",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<ChannelWindowSumAttrs>,
    .shape =
        [](const ShapeContext& c) {
          const auto& a = c.attrs<ChannelWindowSumAttrs>();
          check_dtypes(c, kFloatingDTypes);
          c.check_axis(0, a.axis);
          MARTELLO_CHECK(a.radius >= 0, c.where(), "radius is ", a.radius, "; it must not be negative.");
          return same_shape(c);
        },
    // x[j] is in the window of y[i] when x[i] is in that of y[j]: dx = the same sums of dy
    .gradient =
        [](const GradContext& c) {
          return TensorList{channel_window_sum(c.grad(0), c.attrs<ChannelWindowSumAttrs>())};
        },
    .cpu = channel_window_sum_cpu,
    .rows_of = [](const ShapeContext& c,
                  size_t) { return internal::same_if(c.check_axis(0, c.attrs<ChannelWindowSumAttrs>().axis) > 0); },
    .cost = elementwise_cost,
    .channels_last =
        [](std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs& attrs) {
          ChannelWindowSumAttrs a = attrs.get<ChannelWindowSumAttrs>();
          if (in[0].shape.rank() != 4) return std::optional<ChannelsLast>();
          a.axis = internal::axis_with_channels_last(a.axis);
          return std::optional(ChannelsLast{.attrs = Attrs(a), .inputs = {0}, .outputs = {0}});
        },
    .family = "Normalization",
};

Tensor channel_window_sum(Operand x, ChannelWindowSumAttrs attrs, Name name) {
  return add_op(op_channel_window_sum, {x}, attrs, name);
}

Tensor lrn(Operand x, LrnAttrs attrs, Name name) {
  const auto& a = attrs;
  LineScope line(x.line());
  const int axis = a.data_format == DataFormat::nhwc ? -1 : 1;
  const Tensor sum = channel_window_sum(square(x), {.axis = axis, .radius = a.radius}, str(name.text(), "_sum"));
  return multiply(x, pow(sum * a.alpha + a.bias, -a.beta), name);
}
Tensor lrn(Operand x, Name name) { return lrn(x, {}, name); }

}  // namespace martello
