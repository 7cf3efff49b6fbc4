#include <martello/base/error.h>
#include <martello/ops/internal/addend.h>
#include <martello/ops/internal/matmul_shape.h>
#include <martello/ops/matmul.h>

namespace martello {

Kernel matmul_cpu(const KernelPlan&);

constinit const OpDef op_matmul = {
    .name = "matmul",
    .doc =
        "y[..., i, j] = sum over k of a[..., i, k] b[..., k, j], then plus addend where fusion put it; leading "
        "dimensions broadcast",
    .inputs = {"a", "b", "addend..."},
    .outputs = {"y"},
    .attrs = &attrs_type<MatmulAttrs>,
    .shape =
        [](const ShapeContext& c) {
          const TensorSpec y = internal::matmul_spec(c, c.attrs<MatmulAttrs>(), "a", "b");
          internal::check_addend(c, 2, y.shape, y.dtype);
          return std::vector<TensorSpec>{y};
        },
    .gradient =
        [](const GradContext& c) {
          internal::check_no_addend(c, 2);
          const auto d = internal::matmul_gradients(c, c.grad(0), c.attrs<MatmulAttrs>());
          return TensorList{d.a, d.b};
        },
    .cpu = matmul_cpu,
    .rows_of =
        [](const ShapeContext& c, size_t input) {
          const auto& attrs = c.attrs<MatmulAttrs>();
          if (c.in.size() > 2) return Rows::refused;
          return internal::matmul_rows(c, input, attrs.transpose_a, attrs.transpose_b);
        },
    .broadcasts = true,
    .cost = [](std::span<const TensorSpec> in, std::span<const TensorSpec> out,
               const Attrs& attrs) { return internal::matmul_cost(in, out, attrs.get<MatmulAttrs>().transpose_a); },
    .widened =
        [](const KernelPlan& plan) {
          MatmulAttrs attrs = plan.attrs<MatmulAttrs>();
          attrs.widen = true;
          return internal::is_large_product(plan, attrs.transpose_a) ? std::optional(Attrs(attrs)) : std::nullopt;
        },
    .family = "Linear algebra",
};

Tensor matmul(Operand a, Operand b, MatmulAttrs attrs, Name name) { return add_op(op_matmul, {a, b}, attrs, name); }
Tensor matmul(Operand a, Operand b, Name name) { return matmul(a, b, MatmulAttrs{}, name); }

}  // namespace martello
