#include <martello/ops/broadcast.h>
#include <martello/ops/identity.h>

namespace martello {

Kernel identity_cpu(const KernelPlan&);  // identity_cpu.cc

namespace {

std::optional<std::vector<int64_t>> same_value(const ShapeContext& c) {
  const auto* value = c.value(0);
  return value ? std::optional(*value) : std::nullopt;
}

constexpr OpDef alias_op(const char* name, const char* doc, TensorList (*gradient)(const GradContext&)) {
  return {.name = name,
          .doc = doc,
          .inputs = {"x"},
          .outputs = {"y"},
          .attrs = &attrs_type<NoAttrs>,
          .shape = same_shape,
          .gradient = gradient,
          .cpu = identity_cpu,
          .value = same_value,
          .in_place = {{{0, 0}}},
          .is_alias = true,
          .rows = Rows::same,
          .family = "Identity and casts"};
}

}  // namespace

constinit const OpDef op_identity =
    alias_op("identity", "y = x", [](const GradContext& c) { return TensorList{c.grad(0)}; });
constinit const OpDef op_stop_gradient = alias_op("stop_gradient", "y = x, with no gradient", no_gradient);

Tensor identity(Operand x, Name name) { return add_op(op_identity, {x}, name); }
Tensor stop_gradient(Operand x, Name name) { return add_op(op_stop_gradient, {x}, name); }

}  // namespace martello
