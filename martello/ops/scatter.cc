#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/scatter.h>
#include <martello/ops/shape.h>

#include <algorithm>

namespace martello {

Kernel scatter_nd_cpu(const KernelPlan&);
Kernel gather_grad_cpu(const KernelPlan&);

namespace {

using internal::dim_of;

// In a static shape every size is given; in a vector some may not be known yet.
Shape result_shape(const ShapeContext& c, const Shape& attr) {
  const Shape y(internal::asked_sizes(c, 2, attr));
  MARTELLO_CHECK(c.in.size() > 2 || y.is_known(), c.where(), "shape ", y,
                 " has an unknown or negative size. Give every size, or use shape(x).");
  return y;
}

Shape tail(const Shape& s, int begin) { return s.slice(std::min(begin, s.rank()), s.rank()); }

Shape joined(Shape a, const Shape& b) {
  for (const int64_t d : b.symbolic()) a.push_back(d);
  return a;
}

std::vector<TensorSpec> scatter_nd_shape(const ShapeContext& c) {
  internal::check_index_dtype(c, 0);
  const Shape& indices = c.in[0].shape;
  MARTELLO_CHECK(indices.rank() > 0 && indices[-1] >= 0, c.where(), "the last dimension of indices ", c.in[0].str(),
                 " is the number of axes they address; it must be known.");
  const Shape y = result_shape(c, c.attrs<ScatterAttrs>().shape);
  MARTELLO_CHECK(indices[-1] <= y.rank(), c.where(), "indices ", indices, " address ", indices[-1], " axes, the shape ",
                 y, " has ", y.rank(), ".");
  const Shape asked = joined(indices.slice(0, indices.rank() - 1), tail(y, static_cast<int>(indices[-1])));
  internal::check_same_shape(c, "updates", c.in[1].shape, "indices with the shape", asked);
  return {{.shape = y, .dtype = c.in[1].dtype}};
}

std::vector<TensorSpec> gather_grad_shape(const ShapeContext& c) {
  const auto& a = c.attrs<GatherGradAttrs>();
  internal::check_index_dtype(c, 1);
  const Shape dx = result_shape(c, a.shape), &indices = c.in[1].shape;
  const int axis = normalized_axis(a.axis, dx.rank());
  MARTELLO_CHECK(axis >= 0 && a.batch_dims >= 0 && a.batch_dims <= std::min(axis, indices.rank()), c.where(), "axis ",
                 a.axis, " with batch_dims ", a.batch_dims, " does not fit dx ", dx, " and indices ", indices, ".");
  const Shape asked = joined(joined(dx.slice(0, axis), tail(indices, a.batch_dims)), tail(dx, axis + 1));
  internal::check_same_shape(c, "dy", c.in[0].shape, "dx with indices", asked);
  return {{.shape = dx, .dtype = c.in[0].dtype}};
}

// One null for each input without a gradient.
TensorList with_nulls(std::vector<Tensor> list, size_t n) {
  list.resize(n);
  return list;
}

Rows scattered_rows(const ShapeContext&, size_t input) { return input < 2 ? Rows::reduced : Rows::refused; }

}  // namespace

constinit const OpDef op_scatter_nd = {
    .name = "scatter_nd",
    .doc = "y[indices[i, 0], indices[i, 1] ..., b] += updates[i, b] in zeros of `shape`",
    .inputs = {"indices", "updates", "shape..."},
    .outputs = {"y"},
    .attrs = &attrs_type<ScatterAttrs>,
    .shape = scatter_nd_shape,
    // d(updates) = dy at the indices
    .gradient =
        [](const GradContext& c) {
          return with_nulls({Tensor(), gather_nd(c.grad(0), c.input(0))}, c.inputs.size());
        },
    .cpu = scatter_nd_cpu,
    .rows_of = scattered_rows,
    .cost = internal::copy_cost,
    .family = "Indexing",
};

constinit const OpDef op_gather_grad = {
    .name = "gather_grad",
    .doc = "dx[a, indices[i], b] += dy[a, i, b] in zeros of `shape`",
    .inputs = {"dy", "indices", "shape..."},
    .outputs = {"dx"},
    .attrs = &attrs_type<GatherGradAttrs>,
    .shape = gather_grad_shape,
    // d(dy) = d(dx) at the indices
    .gradient =
        [](const GradContext& c) {
          const auto& a = c.attrs<GatherGradAttrs>();
          return with_nulls({gather(c.grad(0), c.input(1), {a.axis, a.batch_dims})}, c.inputs.size());
        },
    .cpu = gather_grad_cpu,
    .cost = internal::copy_cost,
    .family = "Indexing",
};

Extents shape_for(Tensor x) { return x.shape().is_known() ? Extents(x.shape()) : Extents(shape(x)); }

Tensor scatter_nd(Operand indices, Operand updates, Extents shape, Name name) {
  return add_op(op_scatter_nd, with_extents({indices, updates}, shape, name),
                ScatterAttrs{shape.is_static() ? shape.shape() : Shape()}, name);
}
Tensor gather_grad(Operand dy, Operand indices, GatherAttrs attrs, Extents shape, Name name) {
  return add_op(op_gather_grad, with_extents({dy, indices}, shape, name),
                GatherGradAttrs{attrs.axis, attrs.batch_dims, shape.is_static() ? shape.shape() : Shape()}, name);
}

}  // namespace martello
