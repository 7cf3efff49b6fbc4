#include <martello/ops/broadcast.h>
#include <martello/ops/check_numerics.h>

namespace martello {

Kernel check_numerics_cpu(const KernelPlan&);

constinit const OpDef op_check_numerics = {
    .name = "check_numerics",
    .doc = "y = x; an error of the run when an element is NaN or infinite",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<CheckNumericsAttrs>,
    .shape =
        [](const ShapeContext& c) {
          check_dtypes(c, kFloatingDTypes);
          return same_shape(c);
        },
    // dx = dy
    .gradient = [](const GradContext& c) { return TensorList{c.grad(0)}; },
    .cpu = check_numerics_cpu,
    .in_place = {{{0, 0}}},
    .effect = Effect::host,
    .rows = Rows::same,
    .cost = elementwise_cost,
    .family = "Control and state",
    .is_pass_through = true,
};

Tensor check_numerics(Operand x, std::string message, Name name) {
  return add_op(op_check_numerics, {x}, CheckNumericsAttrs{std::move(message)}, name);
}

}  // namespace martello
