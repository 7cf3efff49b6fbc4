#include <martello/base/error.h>
#include <martello/ops/cast.h>
#include <martello/ops/compare.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/addend.h>
#include <martello/ops/internal/matmul_shape.h>
#include <martello/ops/linear.h>
#include <martello/ops/where.h>

namespace martello {

Kernel linear_cpu(const KernelPlan&);

std::vector<std::string> enum_names(LinearActivation) { return {"none", "relu"}; }

namespace {

MatmulAttrs product_of(const LinearAttrs& attrs) {
  return {.transpose_a = attrs.transpose_x, .transpose_b = attrs.transpose_w, .widen = attrs.widen};
}

std::vector<TensorSpec> linear_shape(const ShapeContext& c) {
  const auto& attrs = c.attrs<LinearAttrs>();
  const TensorSpec y = internal::matmul_spec(c, product_of(attrs), "x", "w");
  if (attrs.widen) {
    c.check_dtype(2, f32);
  } else {
    c.check_floating(0);
    c.check_same_dtype(2, 0);
  }
  c.check_rank(2, 1);
  const int64_t n = internal::dim_of(y.shape, y.shape.rank() - 1), bias = internal::dim_of(c.in[2].shape, 0);
  MARTELLO_CHECK(internal::may_be_equal(n, bias), c.where(), "w gives ", n, " columns but b has ", bias, " numbers (w ",
                 c.in[1].shape, ", b ", c.in[2].shape, "). They must be equal.");
  internal::check_addend(c, 3, y.shape, y.dtype);
  return {y};
}

// dz = dy where y > 0, else 0 (relu), or dy; dx and dw as for matmul, db = dz
TensorList linear_gradient(const GradContext& c) {
  internal::check_no_addend(c, 3);
  const auto& attrs = c.attrs<LinearAttrs>();
  Tensor dz = c.grad(0);
  if (attrs.activation == LinearActivation::relu) dz = where(c.output(0) > 0, dz, 0.0);
  const auto d = internal::matmul_gradients(c, dz, product_of(attrs));
  return TensorList{d.a, d.b, dz};
}

Cost linear_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs& attrs) {
  return internal::matmul_cost(in, out, attrs.get<LinearAttrs>().transpose_x);
}

}  // namespace

constinit const OpDef op_linear = {
    .name = "linear",
    .doc = "y = activation(x w + b), with one b per column; addend comes after b, where fusion put it",
    .inputs = {"x", "w", "b", "addend..."},
    .outputs = {"y"},
    .attrs = &attrs_type<LinearAttrs>,
    .shape = linear_shape,
    .gradient = linear_gradient,
    .cpu = linear_cpu,
    .rows_of =
        [](const ShapeContext& c, size_t input) {
          const auto& attrs = c.attrs<LinearAttrs>();
          if (input == 2 || c.in.size() > 3) return Rows::refused;
          return internal::matmul_rows(c, input, attrs.transpose_x, attrs.transpose_w);
        },
    .cost = linear_cost,
    .widened =
        [](const KernelPlan& plan) {
          LinearAttrs attrs = plan.attrs<LinearAttrs>();
          attrs.widen = true;
          return internal::is_large_product(plan, attrs.transpose_x) ? std::optional(Attrs(attrs)) : std::nullopt;
        },
    .family = "Linear algebra",
};

Tensor linear(Operand x, Operand w, Operand b, LinearAttrs attrs, Name name) {
  return add_op(op_linear, {x, w, b}, attrs, name);
}
Tensor linear(Operand x, Operand w, Operand b, Name name) { return linear(x, w, b, LinearAttrs{}, name); }

}  // namespace martello
