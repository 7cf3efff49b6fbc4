#include <martello/base/error.h>
#include <martello/ops/concat.h>
#include <martello/ops/densify.h>
#include <martello/ops/dims.h>
#include <martello/ops/gather.h>
#include <martello/ops/scatter.h>
#include <martello/ops/shape.h>
#include <martello/ops/slice.h>

namespace martello {

Kernel gather_cpu(const KernelPlan&);
Kernel gather_nd_cpu(const KernelPlan&);

namespace {

using internal::dim_of;

std::vector<TensorSpec> gather_shape(const ShapeContext& c) {
  const auto& a = c.attrs<GatherAttrs>();
  internal::check_index_dtype(c, 1);
  const Shape &x = c.in[0].shape, &indices = c.in[1].shape;
  const int axis = c.check_axis(0, a.axis);
  MARTELLO_CHECK(a.batch_dims >= 0 && a.batch_dims <= axis && a.batch_dims <= indices.rank(), c.where(), "batch_dims ",
                 a.batch_dims, " must be between 0 and axis ", axis, " and at most the rank of indices ", indices, ".");
  Shape y;
  for (int i = 0; i < axis; ++i) {
    const bool is_batch = i < a.batch_dims;
    MARTELLO_CHECK(!is_batch || internal::may_be_equal(x[i], indices[i]), c.where(), "batch dimension ", i, " of x ", x,
                   " and of indices ", indices, " differ: ", x[i], " and ", indices[i], ".");
    y.push_back(is_batch ? internal::more_known(dim_of(x, i), dim_of(indices, i)) : dim_of(x, i));
  }
  for (int i = a.batch_dims; i < indices.rank(); ++i) y.push_back(dim_of(indices, i));
  for (int i = axis + 1; i < x.rank(); ++i) y.push_back(dim_of(x, i));
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

internal::KnownElements gather_value(const ShapeContext& c) {
  if (!c.value(0) || !c.value(1) || c.in[0].shape.rank() != 1) return std::nullopt;
  const int64_t n = static_cast<int64_t>(c.value(0)->size());
  std::vector<int64_t> out;
  for (const int64_t i : *c.value(1)) out.push_back(i >= 0 && i < n ? (*c.value(0))[static_cast<size_t>(i)] : kUnknown);
  return out;
}

// Rows of x are either batches, untouched, or what is picked from; rows of indices are batches or rows of y.
Rows gather_rows(const ShapeContext& c, size_t input) {
  const auto& a = c.attrs<GatherAttrs>();
  const bool picks_rows = c.check_axis(0, a.axis) == 0;
  if (input == 0) return picks_rows ? Rows::reduced : Rows::same;
  return internal::same_if(picks_rows || a.batch_dims > 0);
}

// [number of indices, a row of x]
Extents row_extents(Tensor x, Tensor indices) {
  const Shape row = x.shape().slice(1, x.rank());
  if (row.is_known() && indices.shape().is_known()) {
    Shape flat(indices.shape().num_elements());
    for (const int64_t d : row.symbolic()) flat.push_back(d);
    return flat;
  }
  return concat({reshape(size(indices), Shape(1)), slice(shape(x), {1}, {-1})}, 0);
}

// dx = rows of dy summed at their indices
TensorList gather_gradient(const GradContext& c) {
  const Tensor x = c.input(0), indices = c.input(1), dy = c.grad(0);
  const auto& a = c.attrs<GatherAttrs>();
  if (normalized_axis(a.axis, x.rank()) != 0) return TensorList{gather_grad(dy, indices, a, shape_for(x)), Tensor()};
  const Extents rows = x.dim(0) >= 0 ? Extents(x.dim(0)) : Extents(shape(x)[0]);
  if (indices.rank() == 1) return TensorList{densify(indices, dy, rows), Tensor()};
  return TensorList{densify(reshape(indices, Shape(-1)), reshape(dy, row_extents(x, indices)), rows), Tensor()};
}

std::vector<TensorSpec> gather_nd_shape(const ShapeContext& c) {
  internal::check_index_dtype(c, 1);
  const Shape &x = c.in[0].shape, &indices = c.in[1].shape;
  MARTELLO_CHECK(indices.rank() > 0 && indices[-1] >= 0, c.where(), "the last dimension of indices ", c.in[1].str(),
                 " is the number of axes they address; it must be known.");
  MARTELLO_CHECK(indices[-1] <= x.rank(), c.where(), "indices ", indices, " address ", indices[-1], " axes, x ",
                 c.in[0].str(), " has ", x.rank(), ".");
  Shape y = indices.slice(0, indices.rank() - 1);
  for (int i = static_cast<int>(indices[-1]); i < x.rank(); ++i) y.push_back(dim_of(x, i));
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

}  // namespace

constinit const OpDef op_gather = {
    .name = "gather",
    .doc = "y[a, i, b] = x[a, indices[i], b], with `axis` dimensions in a",
    .inputs = {"x", "indices"},
    .outputs = {"y"},
    .attrs = &attrs_type<GatherAttrs>,
    .shape = gather_shape,
    .gradient = gather_gradient,
    .cpu = gather_cpu,
    .value = gather_value,
    .rows_of = gather_rows,
    .cost = internal::copy_cost,
    .family = "Indexing",
};

constinit const OpDef op_gather_nd = {
    .name = "gather_nd",
    .doc = "y[i, b] = x[indices[i, 0], indices[i, 1] ..., b]",
    .inputs = {"x", "indices"},
    .outputs = {"y"},
    .shape = gather_nd_shape,
    // dx = dy summed at its indices
    .gradient =
        [](const GradContext& c) {
          return TensorList{scatter_nd(c.input(1), c.grad(0), shape_for(c.input(0))), Tensor()};
        },
    .cpu = gather_nd_cpu,
    // Without indices in a tuple the rows of x are those of every element picked.
    .rows_of =
        [](const ShapeContext& c, size_t input) {
          const bool picks_rows = c.in[1].shape.rank() > 0 && c.in[1].shape[-1] != 0;
          if (input == 0) return picks_rows ? Rows::reduced : Rows::refused;
          return internal::same_if(c.in[1].shape.rank() > 1);
        },
    .cost = internal::copy_cost,
    .family = "Indexing",
};

Tensor gather(Operand x, Operand indices, GatherAttrs attrs, Name name) {
  return add_op(op_gather, {x, indices}, attrs, name);
}
Tensor gather(Operand x, Operand indices, Name name) { return gather(x, indices, {}, name); }
Tensor gather_nd(Operand x, Operand indices, Name name) { return add_op(op_gather_nd, {x, indices}, name); }

}  // namespace martello
