#include <martello/ops/broadcast.h>
#include <martello/ops/cumsum.h>

namespace martello {

Kernel cumsum_cpu(const KernelPlan&);

constinit const OpDef op_cumsum = {
    .name = "cumsum",
    .doc = "y[i] = x[0] + ... + x[i] along `axis`",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<CumsumAttrs>,
    .shape =
        [](const ShapeContext& c) {
          check_dtypes(c, DTypeSet::of(f32, f64, i32, i64));
          c.check_axis(0, c.attrs<CumsumAttrs>().axis);
          return same_shape(c);
        },
    // dx[i] = dy[i] + dy[i + 1] + ...
    .gradient =
        [](const GradContext& c) {
          CumsumAttrs a = c.attrs<CumsumAttrs>();
          a.reverse = !a.reverse;
          return TensorList{cumsum(c.grad(0), a)};
        },
    .cpu = cumsum_cpu,
    .in_place = {{{0, 0}}},
    .rows = Rows::same,
    .cost = elementwise_cost,
    .family = "Reductions",
};

Tensor cumsum(Operand x, CumsumAttrs attrs, Name name) { return add_op(op_cumsum, {x}, attrs, name); }
Tensor cumsum(Operand x, Name name) { return cumsum(x, {}, name); }

}  // namespace martello
