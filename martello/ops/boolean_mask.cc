#include <martello/base/error.h>
#include <martello/ops/boolean_mask.h>
#include <martello/ops/dims.h>

namespace martello {

Kernel boolean_mask_cpu(const KernelPlan&);
Kernel boolean_mask_grad_cpu(const KernelPlan&);

namespace {

using internal::dim_of;

void check_mask(const ShapeContext& c) {
  c.check_dtype(1, boolean);
  MARTELLO_CHECK(c.in[1].shape.rank() > 0, c.where(), "mask is a scalar. Use where(mask, a, b) to choose between two.");
}

int64_t mask_bound(const Shape& mask) {
  if (mask.rank() == 1) return dim_of(mask, 0);
  return mask.is_known() ? mask.num_elements() : kUnknown;
}

std::vector<TensorSpec> boolean_mask_shape(const ShapeContext& c) {
  check_mask(c);
  const Shape &x = c.in[0].shape, &mask = c.in[1].shape;
  MARTELLO_CHECK(mask.rank() <= x.rank(), c.where(), "mask ", mask, " has more dimensions than x ", c.in[0].str(), ".");
  for (int i = 0; i < mask.rank(); ++i)
    MARTELLO_CHECK(internal::may_be_equal(x[i], mask[i]), c.where(), "dimension ", i, " of x ", x, " and of mask ",
                   mask, " differ: ", x[i], " and ", mask[i], ".");
  Shape y;
  y.push_back(mask_bound(internal::more_known(mask, x.slice(0, mask.rank()))));
  for (int i = mask.rank(); i < x.rank(); ++i) y.push_back(dim_of(x, i));
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

std::vector<TensorSpec> boolean_mask_grad_shape(const ShapeContext& c) {
  check_mask(c);
  const Shape &dy = c.in[0].shape, &mask = c.in[1].shape;
  MARTELLO_CHECK(dy.rank() > 0 && internal::may_be_equal(dy[0], mask_bound(mask)), c.where(), "dy ", c.in[0].str(),
                 " needs as many rows as mask ", mask, " has elements.");
  Shape dx = mask;
  for (int i = 1; i < dy.rank(); ++i) dx.push_back(dim_of(dy, i));
  return {{.shape = dx, .dtype = c.in[0].dtype}};
}

}  // namespace

constinit const OpDef op_boolean_mask = {
    .name = "boolean_mask",
    .doc = "y = x[mask]: the elements, or rows, of x where mask is true, in their order",
    .inputs = {"x", "mask"},
    .outputs = {"y"},
    .shape = boolean_mask_shape,
    // dx = rows of dy put back where the mask is true
    .gradient =
        [](const GradContext& c) {
          return TensorList{boolean_mask_grad(c.grad(0), c.input(1)), Tensor()};
        },
    .cpu = boolean_mask_cpu,
    .rows = Rows::made,
    .cost = internal::copy_cost,
    .family = "Indexing",
};

constinit const OpDef op_boolean_mask_grad = {
    .name = "boolean_mask_grad",
    .doc = "dx = 0, then dx[mask] = dy: the rows of dy where mask is true, in their order",
    .inputs = {"dy", "mask"},
    .outputs = {"dx"},
    .shape = boolean_mask_grad_shape,
    // d(dy) = d(dx) where the mask is true
    .gradient =
        [](const GradContext& c) {
          return TensorList{boolean_mask(c.grad(0), c.input(1)), Tensor()};
        },
    .cpu = boolean_mask_grad_cpu,
    .rows_of = [](const ShapeContext&, size_t input) { return input == 0 ? Rows::reduced : Rows::same; },
    .cost = internal::copy_cost,
    .family = "Indexing",
};

Tensor boolean_mask(Operand x, Operand mask, Name name) { return add_op(op_boolean_mask, {x, mask}, name); }
Tensor boolean_mask_grad(Operand dy, Operand mask, Name name) { return add_op(op_boolean_mask_grad, {dy, mask}, name); }

}  // namespace martello
