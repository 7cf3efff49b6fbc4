#include <martello/base/error.h>
#include <martello/ops/densify.h>
#include <martello/ops/dims.h>
#include <martello/ops/gather.h>

namespace martello {

Kernel densify_cpu(const KernelPlan&);

namespace {

std::vector<TensorSpec> densify_shape(const ShapeContext& c) {
  internal::check_index_dtype(c, 0);
  c.check_rank(0, 1);
  Shape y;
  y.push_back(c.attrs<DensifyAttrs>().rows);
  y = Shape(internal::asked_sizes(c, 2, y));
  MARTELLO_CHECK(y.rank() == 1 && (c.in.size() > 2 || y.is_known()), c.where(), "rows ", y,
                 " must be one known size. Give a number, or shape(x)[0].");
  const Shape &indices = c.in[0].shape, &values = c.in[1].shape;
  MARTELLO_CHECK(values.rank() > 0 && internal::may_be_equal(indices[0], values[0]), c.where(), "values ",
                 c.in[1].str(), " need as many rows as there are indices: ", c.in[0].str(), ".");
  for (int i = 1; i < values.rank(); ++i) y.push_back(internal::dim_of(values, i));
  return {{.shape = y, .dtype = c.in[1].dtype}};
}

}  // namespace

constinit const OpDef op_densify = {
    .name = "densify",
    .doc = "y[indices[i]] += values[i] in zeros of [rows, ...]",
    .inputs = {"indices", "values", "rows..."},
    .outputs = {"y"},
    .attrs = &attrs_type<DensifyAttrs>,
    .shape = densify_shape,
    // d(values) = rows of dy
    .gradient =
        [](const GradContext& c) {
          TensorList list{Tensor(), gather(c.grad(0), c.input(0))};
          if (c.inputs.size() > 2) list.push_back(Tensor());
          return list;
        },
    .cpu = densify_cpu,
    .rows_of = [](const ShapeContext&, size_t input) { return input < 2 ? Rows::reduced : Rows::refused; },
    .cost = internal::copy_cost,
    .family = "Indexing",
};

Tensor densify(Operand indices, Operand values, Extents rows, Name name) {
  const int64_t size = rows.is_static() && rows.shape().rank() == 1 ? rows.shape()[0] : kUnknown;
  return add_op(op_densify, with_extents({indices, values}, rows, name), DensifyAttrs{size}, name);
}

}  // namespace martello
