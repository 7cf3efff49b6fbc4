#include <martello/ops/broadcast.h>
#include <martello/ops/softmax.h>
#include <martello/ops/unary.h>

namespace martello {

Kernel softmax_cpu(const KernelPlan&);
Kernel log_softmax_cpu(const KernelPlan&);
Kernel logsumexp_cpu(const KernelPlan&);

namespace {

std::vector<TensorSpec> softmax_shape(const ShapeContext& c) {
  check_dtypes(c, kFloatingDTypes);
  c.check_axis(0, c.attrs<SoftmaxAttrs>().axis);
  return {{.shape = c.in[0].shape, .dtype = c.in[0].dtype}};
}

std::vector<TensorSpec> logsumexp_shape(const ShapeContext& c) {
  check_dtypes(c, kFloatingDTypes);
  const auto& a = c.attrs<ReduceAttrs>();
  const auto marked = internal::check_axes(c, 0, a.axes);
  return {{.shape = internal::reduced_shape(c.in[0].shape, marked, a.keep_dims), .dtype = c.in[0].dtype}};
}

// Axes with others between them are brought together first, by a copy that needs sizes known before the run.
Rows logsumexp_rows(const ShapeContext& c, size_t input) {
  const auto marked = internal::marked_axes(c.attrs<ReduceAttrs>().axes, c.in[0].shape.rank());
  return internal::find_axis_range(marked) ? internal::reduce_rows(c, input) : Rows::refused;
}

Tensor sum_along(Tensor x, const SoftmaxAttrs& a) { return reduce_sum(x, {.axes = a.axis, .keep_dims = true}); }

// Three passes over the data, of which one computes exp.
Cost softmax_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&) {
  const double n = static_cast<double>(in[0].shape.num_elements());
  const double moved = n + static_cast<double>(out[0].shape.num_elements());
  return {.flops = 20 * n, .bytes = moved * static_cast<double>(size_of(in[0].dtype))};
}

}  // namespace

constinit const OpDef op_softmax = {
    .name = "softmax",
    .doc = "y = exp(x) / sum(exp(x)) along `axis`",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<SoftmaxAttrs>,
    .shape = softmax_shape,
    // dx = y * (dy - sum(dy * y))
    .gradient =
        [](const GradContext& c) {
          const Tensor y = c.output(0), dy = c.grad(0);
          return TensorList{y * (dy - sum_along(dy * y, c.attrs<SoftmaxAttrs>()))};
        },
    .cpu = softmax_cpu,
    .in_place = {{{0, 0}}},
    .rows = Rows::same,
    .cost = softmax_cost,
    .family = "Softmax and losses",
};

constinit const OpDef op_log_softmax = {
    .name = "log_softmax",
    .doc = "y = x - log(sum(exp(x))) along `axis`",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<SoftmaxAttrs>,
    .shape = softmax_shape,
    // dx = dy - exp(y) * sum(dy)
    .gradient =
        [](const GradContext& c) {
          const Tensor dy = c.grad(0);
          return TensorList{dy - exp(c.output(0)) * sum_along(dy, c.attrs<SoftmaxAttrs>())};
        },
    .cpu = log_softmax_cpu,
    .in_place = {{{0, 0}}},
    .rows = Rows::same,
    .cost = softmax_cost,
    .family = "Softmax and losses",
};

constinit const OpDef op_logsumexp = {
    .name = "logsumexp",
    .doc = "y = log(sum(exp(x))) along `axes`",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<ReduceAttrs>,
    .shape = logsumexp_shape,
    // dx = dy * exp(x - y)
    .gradient =
        [](const GradContext& c) {
          const auto& a = c.attrs<ReduceAttrs>();
          const Tensor x = c.input(0), y = internal::with_kept_dims(c.output(0), x, a);
          return TensorList{internal::with_kept_dims(c.grad(0), x, a) * exp(x - y)};
        },
    .cpu = logsumexp_cpu,
    .rows_of = logsumexp_rows,
    .cost = softmax_cost,
    .family = "Softmax and losses",
};

Tensor softmax(Operand x, SoftmaxAttrs attrs, Name name) { return add_op(op_softmax, {x}, attrs, name); }
Tensor softmax(Operand x, Name name) { return softmax(x, {}, name); }
Tensor log_softmax(Operand x, SoftmaxAttrs attrs, Name name) { return add_op(op_log_softmax, {x}, attrs, name); }
Tensor log_softmax(Operand x, Name name) { return log_softmax(x, {}, name); }
Tensor logsumexp(Operand x, ReduceAttrs attrs, Name name) { return add_op(op_logsumexp, {x}, std::move(attrs), name); }
Tensor logsumexp(Operand x, Name name) { return logsumexp(x, {}, name); }

}  // namespace martello
