#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/compare.h>
#include <martello/ops/identity.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/like.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>

namespace martello {

Kernel reduce_sum_cpu(const KernelPlan&);
Kernel reduce_mean_cpu(const KernelPlan&);
Kernel reduce_max_cpu(const KernelPlan&);
Kernel reduce_min_cpu(const KernelPlan&);
Kernel reduce_prod_cpu(const KernelPlan&);
Kernel reduce_all_cpu(const KernelPlan&);
Kernel reduce_any_cpu(const KernelPlan&);
Kernel product_of_others_cpu(const KernelPlan&);

namespace internal {

Rows reduce_rows(const ShapeContext& c, size_t) {
  const auto marked = marked_axes(c.attrs<ReduceAttrs>().axes, c.in[0].shape.rank());
  return marked.empty() || marked[0] ? Rows::reduced : Rows::same;
}

Tensor with_kept_dims(Tensor t, Tensor x, const ReduceAttrs& attrs) {
  // A scalar broadcasts as it is.
  if (attrs.keep_dims || t.rank() == 0) return t;
  const auto marked = marked_axes(attrs.axes, x.rank());
  for (size_t i = 0; i < marked.size(); ++i)
    if (marked[i]) t = expand_dims(t, static_cast<int>(i));
  return t;
}

}  // namespace internal

namespace {

using internal::with_kept_dims;
constexpr DTypeSet kReduced = DTypeSet::of(f32, f64, i32, i64);

std::vector<TensorSpec> reduced_spec(const ShapeContext& c, DTypeSet allowed) {
  check_dtypes(c, allowed);
  const auto& a = c.attrs<ReduceAttrs>();
  const auto marked = internal::check_axes(c, 0, a.axes);
  return {{.shape = internal::reduced_shape(c.in[0].shape, marked, a.keep_dims), .dtype = c.in[0].dtype}};
}

// dx = dy
TensorList sum_gradient(const GradContext& c) {
  const Tensor x = c.input(0);
  return {broadcast_like(with_kept_dims(c.grad(0), x, c.attrs<ReduceAttrs>()), x)};
}

// dx = dy / n
TensorList mean_gradient(const GradContext& c) {
  const Tensor x = c.input(0);
  const auto& a = c.attrs<ReduceAttrs>();
  const Tensor n = size_of(x, {.axes = a.axes, .dtype = x.dtype()});
  return {broadcast_like(with_kept_dims(c.grad(0) / n, x, a), x)};
}

// dx = dy / m for each of the m elements that are the extreme, else 0
TensorList extreme_gradient(const GradContext& c) {
  const Tensor x = c.input(0);
  const auto& a = c.attrs<ReduceAttrs>();
  const Tensor is_extreme = stop_gradient(cast(equal(x, with_kept_dims(c.output(0), x, a)), x.dtype()));
  const Tensor m = reduce_sum(is_extreme, {.axes = a.axes, .keep_dims = true});
  return {is_extreme * (with_kept_dims(c.grad(0), x, a) / m)};
}

// dx[i] = dy * prod(x[j], j != i)
TensorList prod_gradient(const GradContext& c) {
  const Tensor x = c.input(0);
  const auto& a = c.attrs<ReduceAttrs>();
  return {with_kept_dims(c.grad(0), x, a) * product_of_others(x, {.axes = a.axes})};
}

std::vector<TensorSpec> product_of_others_shape(const ShapeContext& c) {
  c.check_floating(0);
  internal::check_axes(c, 0, c.attrs<AxesAttrs>().axes);
  return {{.shape = c.in[0].shape, .dtype = c.in[0].dtype}};
}

// dx[k] = sum(dy[i] y[i], i != k) / x[k]: NaN where x[k] is 0
TensorList product_of_others_gradient(const GradContext& c) {
  const Tensor all = c.grad(0) * c.output(0);
  const Tensor sum = reduce_sum(all, {.axes = c.attrs<AxesAttrs>().axes, .keep_dims = true});
  return {(sum - all) / c.input(0)};
}

// What is left without keep_dims must come in the same order.
std::optional<ChannelsLast> channels_last(std::span<const TensorSpec> in, std::span<const TensorSpec>,
                                          const Attrs& attrs) {
  if (in[0].shape.rank() != 4) return std::nullopt;
  ReduceAttrs a = attrs.get<ReduceAttrs>();
  const auto marked = internal::marked_axes(a.axes, 4);
  const bool keeps_order = marked[1] || (marked[2] && marked[3]);
  if (!a.keep_dims && !keeps_order) return std::nullopt;
  for (int& axis : a.axes.values()) axis = internal::axis_with_channels_last(axis);
  ChannelsLast last{.attrs = Attrs(a), .inputs = {0}};
  if (a.keep_dims) last.outputs = {0};
  return last;
}

}  // namespace

#define MARTELLO_REDUCE(f, formula, dtypes, f_gradient)                                                     \
  constinit const OpDef op_##f = {                                                                          \
      .name = #f,                                                                                           \
      .doc = formula,                                                                                       \
      .inputs = {"x"},                                                                                      \
      .outputs = {"y"},                                                                                     \
      .attrs = &attrs_type<ReduceAttrs>,                                                                    \
      .shape = [](const ShapeContext& c) { return reduced_spec(c, dtypes); },                               \
      .gradient = f_gradient,                                                                               \
      .cpu = f##_cpu,                                                                                       \
      .rows_of = internal::reduce_rows,                                                                     \
      .cost = elementwise_cost,                                                                             \
      .channels_last = channels_last,                                                                       \
      .family = "Reductions",                                                                               \
  };                                                                                                        \
  Tensor f(Operand x, ReduceAttrs attrs, Name name) { return add_op(op_##f, {x}, std::move(attrs), name); } \
  Tensor f(Operand x, Name name) { return f(x, {}, name); }

MARTELLO_REDUCE(reduce_sum, "y = sum of x along `axes`", kReduced, sum_gradient)
MARTELLO_REDUCE(reduce_mean, "y = sum of x along `axes` / number of elements summed", kFloatingDTypes, mean_gradient)
MARTELLO_REDUCE(reduce_max, "y = the largest x along `axes`", kReduced, extreme_gradient)
MARTELLO_REDUCE(reduce_min, "y = the smallest x along `axes`", kReduced, extreme_gradient)
MARTELLO_REDUCE(reduce_prod, "y = product of x along `axes`", kReduced, prod_gradient)
MARTELLO_REDUCE(reduce_all, "y = whether all x along `axes` are true", DTypeSet::of(boolean), not_differentiable)
MARTELLO_REDUCE(reduce_any, "y = whether some x along `axes` is true", DTypeSet::of(boolean), not_differentiable)
#undef MARTELLO_REDUCE

constinit const OpDef op_product_of_others = {
    .name = "product_of_others",
    .doc = "y[i] = product of x[j] along `axes`, j != i",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<AxesAttrs>,
    .shape = product_of_others_shape,
    .gradient = product_of_others_gradient,
    .cpu = product_of_others_cpu,
    .rows = Rows::same,
    .cost = elementwise_cost,
    .family = "Reductions",
};

Tensor product_of_others(Operand x, AxesAttrs attrs, Name name) {
  return add_op(op_product_of_others, {x}, std::move(attrs), name);
}

}  // namespace martello
