#include <martello/ops/arg_reduce.h>
#include <martello/ops/broadcast.h>

namespace martello {

Kernel argmax_cpu(const KernelPlan&);
Kernel argmin_cpu(const KernelPlan&);
Kernel count_nonzero_cpu(const KernelPlan&);

namespace {

std::vector<TensorSpec> arg_reduce_shape(const ShapeContext& c) {
  const auto& a = c.attrs<ArgReduceAttrs>();
  check_dtypes(c, kNumericDTypes);
  const int axis = c.check_axis(0, a.axis);
  const Shape& shape = c.in[0].shape;
  MARTELLO_CHECK(shape[axis] != 0, c.where(), "axis ", a.axis, " of x ", shape,
                 " has no elements, so none of them is an extreme.");
  std::vector<bool> marked(static_cast<size_t>(shape.rank()), false);
  marked[static_cast<size_t>(axis)] = true;
  return {{.shape = internal::reduced_shape(shape, marked, a.keep_dims), .dtype = i64}};
}

std::vector<TensorSpec> count_nonzero_shape(const ShapeContext& c) {
  const auto& a = c.attrs<ReduceAttrs>();
  const auto marked = internal::check_axes(c, 0, a.axes);
  return {{.shape = internal::reduced_shape(c.in[0].shape, marked, a.keep_dims), .dtype = i64}};
}

// Without rows there would be no extreme.
Rows arg_reduce_rows(const ShapeContext& c, size_t) {
  return c.check_axis(0, c.attrs<ArgReduceAttrs>().axis) == 0 ? Rows::refused : Rows::same;
}

constexpr OpDef arg_reduce_op(const char* name, const char* doc, KernelFn cpu) {
  return {.name = name,
          .doc = doc,
          .inputs = {"x"},
          .outputs = {"index"},
          .attrs = &attrs_type<ArgReduceAttrs>,
          .shape = arg_reduce_shape,
          .gradient = not_differentiable,
          .cpu = cpu,
          .rows_of = arg_reduce_rows,
          .cost = elementwise_cost,
          .family = "Reductions"};
}

}  // namespace

constinit const OpDef op_argmax =
    arg_reduce_op("argmax", "index = where x is largest along `axis`, the first of equal ones", argmax_cpu);
constinit const OpDef op_argmin =
    arg_reduce_op("argmin", "index = where x is smallest along `axis`, the first of equal ones", argmin_cpu);

constinit const OpDef op_count_nonzero = {
    .name = "count_nonzero",
    .doc = "n = the number of elements along `axes` that are not 0",
    .inputs = {"x"},
    .outputs = {"n"},
    .attrs = &attrs_type<ReduceAttrs>,
    .shape = count_nonzero_shape,
    .gradient = not_differentiable,
    .cpu = count_nonzero_cpu,
    .rows_of = internal::reduce_rows,
    .cost = elementwise_cost,
    .family = "Reductions",
};

Tensor argmax(Operand x, ArgReduceAttrs attrs, Name name) { return add_op(op_argmax, {x}, attrs, name); }
Tensor argmax(Operand x, Name name) { return argmax(x, {}, name); }
Tensor argmin(Operand x, ArgReduceAttrs attrs, Name name) { return add_op(op_argmin, {x}, attrs, name); }
Tensor argmin(Operand x, Name name) { return argmin(x, {}, name); }
Tensor count_nonzero(Operand x, ReduceAttrs attrs, Name name) { return add_op(op_count_nonzero, {x}, attrs, name); }
Tensor count_nonzero(Operand x, Name name) { return count_nonzero(x, {}, name); }

}  // namespace martello
