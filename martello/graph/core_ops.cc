#include <martello/graph/core_ops.h>

#include <martello/base/error.h>
#include <martello/graph/scopes.h>

namespace martello {
namespace {

std::vector<TensorSpec> constant_shape(const ShapeContext& c) {
  const HostTensor& value = c.attrs<ConstantAttrs>().value;
  return {{value.shape(), value.dtype()}};
}

std::optional<std::vector<int64_t>> constant_value(const ShapeContext& c) {
  const HostTensor whole = c.attrs<ConstantAttrs>().value.cast(i64);  // at() would round beyond 2^53
  const auto elements = whole.data<int64_t>();
  return std::vector<int64_t>(elements.begin(), elements.end());
}

std::vector<TensorSpec> placeholder_shape(const ShapeContext& c) {
  const auto& a = c.attrs<PlaceholderAttrs>();
  for (int i = 0; i < a.shape.rank(); ++i)
    MARTELLO_CHECK(a.shape.symbolic()[static_cast<size_t>(i)] >= kUnknown, c.where(), "dimension ", i, " is ",
                   a.shape.symbolic()[static_cast<size_t>(i)], " in ", a.shape,
                   ": a size is not negative; an unknown one is kUnknown.");
  return {{a.shape, a.dtype}};
}

}  // namespace

constinit const OpDef op_constant = {
    .name = "constant",
    .doc = "y = `value`",
    .outputs = {"y"},
    .attrs = &attrs_type<ConstantAttrs>,
    .shape = constant_shape,
    .gradient = no_gradient,
    .value = constant_value,
    .family = "Sources",
};

constinit const OpDef op_placeholder = {
    .name = "placeholder",
    .doc = "y = what the caller of a run feeds",
    .outputs = {"y"},
    .attrs = &attrs_type<PlaceholderAttrs>,
    .shape = placeholder_shape,
    .gradient = no_gradient,
    .effect = Effect::feed,
    .family = "Sources",
};

constinit const OpDef op_arg = {
    .name = "arg",
    .doc = "y = an input of the body it stands in",
    .outputs = {"y"},
    .attrs = &attrs_type<PlaceholderAttrs>,
    .shape = placeholder_shape,
    .gradient = no_gradient,
    .effect = Effect::feed,
    .family = "Sources",
};

constinit const OpDef op_group = {
    .name = "group",
    .doc = "computes nothing; done when its control inputs are",
    .shape = [](const ShapeContext&) { return std::vector<TensorSpec>(); },
    .gradient = no_gradient,
    .family = "Control and state",
};

Tensor constant(HostTensor value, Name name) { return add_op(op_constant, {}, ConstantAttrs{std::move(value)}, name); }
Tensor constant(double value, Name name) { return constant(HostTensor::full(Shape(), f32, value), name); }

Tensor placeholder(Shape shape, DType dtype, Name name) {
  return add_op(op_placeholder, {}, PlaceholderAttrs{std::move(shape), dtype}, name);
}

Operation group(const std::vector<Operation>& ops, Name name) {
  ControlDependencies after(ops);
  return add_operation(op_group, {}, Attrs(), name);
}

}  // namespace martello
