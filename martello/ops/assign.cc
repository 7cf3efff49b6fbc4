#include <martello/ops/assign.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/ops/variable.h>

namespace martello {

Kernel assign_cpu(const KernelPlan&);
Kernel assign_add_cpu(const KernelPlan&);
Kernel assign_sub_cpu(const KernelPlan&);
Kernel copy_cpu(const KernelPlan&);
Kernel advance_counter_cpu(const KernelPlan&);

namespace {

// A value of the variable's shape, or a scalar for every element.
std::vector<TensorSpec> write_shape(const ShapeContext& c) {
  const TensorSpec &v = c.in[0], &value = c.in[1];
  MARTELLO_CHECK(v.dtype == value.dtype, c.where(), "the variable is ", v, " but the value is ", value,
                 ". Use cast(value, ", v.dtype, ").");
  if (value.shape.rank() == 0) return {};
  bool agrees = v.shape.rank() == value.shape.rank();
  for (int i = 0; agrees && i < v.shape.rank(); ++i)
    agrees = value.shape[i] == kUnknown || value.shape[i] == v.shape[i];
  MARTELLO_CHECK(agrees, c.where(), "the variable is ", v, " but the value is ", value, ".");
  return {};
}

std::vector<TensorSpec> arithmetic_shape(const ShapeContext& c) {
  MARTELLO_CHECK(c.in[0].dtype != boolean, c.where(), "a bool variable cannot be added to. Use assign().");
  return write_shape(c);
}

std::vector<int> first_input(const Attrs&, int) { return {0}; }

TensorList copy_gradient(const GradContext& c) { return {c.grad(0)}; }

std::vector<TensorSpec> same_shape(const ShapeContext& c) { return {{c.in[0].shape, c.in[0].dtype}}; }

Operation write(const OpDef& def, const Variable& v, const Operand& value, Name name) {
  MARTELLO_CHECK(!v.handle().is_null(), "[", def.name, " '", name.text(), "'] the variable is null.\n  at ",
                 name.line().str());
  MARTELLO_CHECK(v.handle().node()->def == &op_variable, "[", def.name, " '", name.text(), "'] '", v.handle().name(),
                 "' is a ", v.handle().node()->def->name, ", not a variable.\n  at ", name.line().str());
  return add_operation(def, {Operand(v.handle(), value.line()), value}, Attrs(), name);
}

}  // namespace

constinit const OpDef op_assign = {
    .name = "assign",
    .doc = "v = value, in the update phase",
    .inputs = {"v", "value"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = write_shape,
    .gradient = not_differentiable,
    .cpu = assign_cpu,
    .effect = Effect::write,
    .targets = first_input,
    .is_overwrite = true,
    .family = "Control and state",
};

constinit const OpDef op_assign_add = {
    .name = "assign_add",
    .doc = "v += value, in the update phase",
    .inputs = {"v", "value"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = arithmetic_shape,
    .gradient = not_differentiable,
    .cpu = assign_add_cpu,
    .effect = Effect::write,
    .targets = first_input,
    .family = "Control and state",
};

constinit const OpDef op_assign_sub = {
    .name = "assign_sub",
    .doc = "v -= value, in the update phase",
    .inputs = {"v", "value"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = arithmetic_shape,
    .gradient = not_differentiable,
    .cpu = assign_sub_cpu,
    .effect = Effect::write,
    .targets = first_input,
    .family = "Control and state",
};

constinit const OpDef op_read_variable = {
    .name = "read_variable",
    .doc = "y = v after the writes that control edges put before it",
    .inputs = {"v"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = same_shape,
    .gradient = copy_gradient,
    .cpu = copy_cpu,
    .effect = Effect::read,
    .family = "Control and state",
};

constinit const OpDef op_copy = {
    .name = "copy",
    .doc = "y = x in memory of its own",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = same_shape,
    .gradient = copy_gradient,
    .cpu = copy_cpu,
    .rows = Rows::same,
    .family = "Control and state",
};

constinit const OpDef op_advance_counter = {
    .name = "advance_counter",
    .doc = "counter[stream] += 1, in the update phase",
    .inputs = {"counter"},
    .attrs = &attrs_type<NoAttrs>,
    .shape =
        [](const ShapeContext& c) {
          c.check_dtype(0, i64);
          MARTELLO_CHECK(c.in[0].shape == Shape(2), c.where(), "a counter is i64[2] but this is ", c.in[0], ".");
          return std::vector<TensorSpec>();
        },
    .gradient = not_differentiable,
    .cpu = advance_counter_cpu,
    .effect = Effect::write,
    .targets = first_input,
    .family = "Control and state",
};

Operation assign(Variable v, Operand value, Name name) { return write(op_assign, v, value, name); }
Operation assign_add(Variable v, Operand value, Name name) { return write(op_assign_add, v, value, name); }
Operation assign_sub(Variable v, Operand value, Name name) { return write(op_assign_sub, v, value, name); }
Tensor read_variable(Variable v, Name name) {
  return add_op(op_read_variable, {Operand(v.handle(), name.line())}, name);
}
Tensor copy(Operand x, Name name) { return add_op(op_copy, {x}, name); }

}  // namespace martello
