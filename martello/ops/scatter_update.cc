#include <martello/ops/scatter_update.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/variable.h>

namespace martello {

Kernel scatter_add_cpu(const KernelPlan&);
Kernel scatter_sub_cpu(const KernelPlan&);
Kernel scatter_assign_cpu(const KernelPlan&);
Kernel check_indices_cpu(const KernelPlan&);

namespace {

std::vector<TensorSpec> scatter_shape(const ShapeContext& c) {
  const TensorSpec &v = c.in[0], &values = c.in[2];
  internal::check_index_dtype(c, 1);
  MARTELLO_CHECK(v.shape.rank() > 0, c.where(), "the variable is ", v, ", which has no rows. Use assign().");
  MARTELLO_CHECK(v.dtype == values.dtype, c.where(), "the variable is ", v, " but the values are ", values,
                 ". Use cast(values, ", v.dtype, ").");
  if (values.shape.rank() == 0) return {};
  Shape asked = c.in[1].shape;
  for (int i = 1; i < v.shape.rank(); ++i) asked.push_back(v.shape[i]);
  const std::string asks = str("indices ", c.in[1].shape, " with rows of the variable ", v.shape);
  internal::check_same_shape(c, "values", values.shape, asks.c_str(), asked);
  return {};
}

std::vector<TensorSpec> arithmetic_shape(const ShapeContext& c) {
  MARTELLO_CHECK(c.in[0].dtype != boolean, c.where(), "a bool variable cannot be added to. Use scatter_assign().");
  return scatter_shape(c);
}

std::vector<int> first_input(const Attrs&, int) { return {0}; }

Rows scattered_rows(const ShapeContext&, size_t input) { return input == 0 ? Rows::refused : Rows::reduced; }

// Every value is read once; its place is read and written.
Cost scatter_cost(std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs&) {
  double elements = 1;
  for (int i = 1; i < in[0].shape.rank(); ++i) elements *= static_cast<double>(in[0].shape[i]);
  for (int i = 0; i < in[1].shape.rank(); ++i) elements *= static_cast<double>(in[1].shape[i]);
  return {elements, 3 * elements * static_cast<double>(size_of(in[0].dtype))};
}

constexpr OpDef scatter_op(const char* name, const char* doc, std::vector<TensorSpec> (*shape)(const ShapeContext&),
                           KernelFn cpu) {
  return {.name = name,
          .doc = doc,
          .inputs = {"v", "indices", "values"},
          .attrs = &attrs_type<NoAttrs>,
          .shape = shape,
          .gradient = not_differentiable,
          .cpu = cpu,
          .effect = Effect::write,
          .targets = first_input,
          .rows_of = scattered_rows,
          .cost = scatter_cost,
          .family = "Control and state"};
}

// Indices are checked while the run computes: in the update phase other variables may have been written already.
Operation scatter(const OpDef& def, const Variable& v, const Operand& indices, const Operand& values, Name name) {
  const SourceLine line = LineScope::effective(indices.line());
  MARTELLO_CHECK(!v.handle().is_null(), "[", def.name, " '", name.text(), "'] the variable is null.\n  at ",
                 line.str());
  MARTELLO_CHECK(v.handle().node()->def == &op_variable, "[", def.name, " '", name.text(), "'] '", v.handle().name(),
                 "' is not a variable.\n  at ", line.str());
  MARTELLO_CHECK(v.handle().rank() > 0, "[", def.name, " '", name.text(), "'] variable '", v.handle().name(), "' is ",
                 v.handle().dtype(), v.handle().shape(), ", which has no rows. Use assign().\n  at ", line.str());
  const Tensor checked = check_indices(indices, v.handle().dim(0), str(name.text(), "_indices"));
  return add_operation(def, {Operand(v.handle(), line), Operand(checked, line), values}, Attrs(), name);
}

}  // namespace

constinit const OpDef op_scatter_add =
    scatter_op("scatter_add", "v[indices[i]] += values[i], in the update phase", arithmetic_shape, scatter_add_cpu);
constinit const OpDef op_scatter_sub =
    scatter_op("scatter_sub", "v[indices[i]] -= values[i], in the update phase", arithmetic_shape, scatter_sub_cpu);
constinit const OpDef op_scatter_assign =
    scatter_op("scatter_assign", "v[indices[i]] = values[i], in the update phase", scatter_shape, scatter_assign_cpu);

constinit const OpDef op_check_indices = {
    .name = "check_indices",
    .doc = "y = indices; an error of the run when one is outside [0, limit)",
    .inputs = {"indices"},
    .outputs = {"y"},
    .attrs = &attrs_type<CheckIndicesAttrs>,
    .shape =
        [](const ShapeContext& c) {
          internal::check_index_dtype(c, 0);
          return same_shape(c);
        },
    .gradient = no_gradient,
    .cpu = check_indices_cpu,
    .in_place = {{{0, 0}}},
    .rows = Rows::same,
    .family = "Control and state",
};

Operation scatter_add(Variable v, Operand indices, Operand values, Name name) {
  return scatter(op_scatter_add, v, indices, values, name);
}
Operation scatter_sub(Variable v, Operand indices, Operand values, Name name) {
  return scatter(op_scatter_sub, v, indices, values, name);
}
Operation scatter_assign(Variable v, Operand indices, Operand values, Name name) {
  return scatter(op_scatter_assign, v, indices, values, name);
}
Tensor check_indices(Operand indices, int64_t limit, Name name) {
  return add_op(op_check_indices, {indices}, CheckIndicesAttrs{limit}, name);
}

}  // namespace martello
