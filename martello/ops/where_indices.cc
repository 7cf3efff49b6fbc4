#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/where_indices.h>

namespace martello {

Kernel where_indices_cpu(const KernelPlan&);

namespace {

std::vector<TensorSpec> where_indices_shape(const ShapeContext& c) {
  c.check_dtype(0, boolean);
  const Shape& condition = c.in[0].shape;
  MARTELLO_CHECK(condition.rank() > 0, c.where(), "condition is a scalar: it has no places.");
  Shape y;
  if (condition.rank() == 1) y.push_back(internal::dim_of(condition, 0));
  else y.push_back(condition.is_known() ? condition.num_elements() : kUnknown);
  y.push_back(condition.rank());
  return {{.shape = y, .dtype = i64}};
}

}  // namespace

constinit const OpDef op_where_indices = {
    .name = "where_indices",
    .doc = "y = the index of each true element of the condition, in their order",
    .inputs = {"condition"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = where_indices_shape,
    .gradient = not_differentiable,
    .cpu = where_indices_cpu,
    .rows = Rows::made,
    .cost = internal::copy_cost,
    .family = "Indexing",
};

Tensor where_indices(Operand condition, Name name) { return add_op(op_where_indices, {condition}, name); }

}  // namespace martello
