#include <martello/base/error.h>
#include <martello/ops/conv2d_max_pool.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/conv_attrs.h>
#include <martello/ops/internal/pool_shape.h>

namespace martello {

Kernel conv2d_max_pool_cpu(const KernelPlan&);

namespace {

using internal::ConvDirection;
using internal::ConvOpAttrs;

Attrs conv_attrs(const ConvPoolAttrs& a) { return Attrs(ConvOpAttrs{.conv = a.conv, .activation = a.activation}); }

std::vector<TensorSpec> conv2d_max_pool_shape(const ShapeContext& c) {
  const auto& a = c.attrs<ConvPoolAttrs>();
  const Attrs conv = conv_attrs(a);
  ShapeContext inner = c;
  inner.attributes = &conv;
  TensorSpec y = internal::conv2d_shape(inner)[0];
  MARTELLO_CHECK(!internal::conv2d_task(c.in, a.activation).has_addend, c.where(),
                 "takes x, kernel and bias; what is added must be pooled too. Use conv2d(), add() and max_pool().");
  const int at = internal::height_axis(a.pool.data_format);
  const auto axes =
      internal::pool_axes(c.where(), a.pool, internal::dim_of(y.shape, at), internal::dim_of(y.shape, at + 1));
  y.shape = y.shape.with(at, axes.h.out).with(at + 1, axes.w.out);
  return {y};
}

Cost conv2d_max_pool_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs& attrs) {
  return op_conv2d.cost(in, out, conv_attrs(attrs.get<ConvPoolAttrs>()));
}

}  // namespace

constinit const OpDef op_conv2d_max_pool = {
    .name = "conv2d_max_pool",
    .doc = "y = max_pool(activation(conv2d(x, kernel) + bias))",
    .inputs = {"x", "kernel", "bias..."},
    .outputs = {"y"},
    .attrs = &attrs_type<ConvPoolAttrs>,
    .shape = conv2d_max_pool_shape,
    .gradient = not_differentiable,
    .cpu = conv2d_max_pool_cpu,
    .cost = conv2d_max_pool_cost,
    .family = "Made by passes",
};

Tensor conv2d_max_pool(const std::vector<Operand>& inputs, ConvPoolAttrs attrs, Name name) {
  return add_op(op_conv2d_max_pool, inputs, attrs, name);
}

}  // namespace martello
