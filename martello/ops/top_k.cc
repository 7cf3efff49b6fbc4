#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/top_k.h>

namespace martello {

Kernel top_k_cpu(const KernelPlan&);
Kernel take_along_last_cpu(const KernelPlan&);
Kernel add_along_last_cpu(const KernelPlan&);

namespace {

void check_has_last(const ShapeContext& c, size_t i) {
  MARTELLO_CHECK(c.in[i].shape.rank() >= 1, c.where(), input_name(c, i), " is the scalar ", c.in[i].str(),
                 "; it needs a last axis. Use expand_dims().");
}

void check_numeric(const ShapeContext& c, size_t i) {
  MARTELLO_CHECK(kNumericDTypes.has(c.in[i].dtype), c.where(), input_name(c, i), " is ", c.in[i].str(),
                 "; supported are ", kNumericDTypes, ". Use cast().");
}

std::vector<TensorSpec> top_k_shape(const ShapeContext& c) {
  check_numeric(c, 0);
  check_has_last(c, 0);
  const Shape& x = c.in[0].shape;
  const int64_t k = c.attrs<TopKAttrs>().k, size = x[-1];
  MARTELLO_CHECK(k >= 0 && (size < 0 || k <= size), c.where(), "k is ", k, " but the last axis of x ", x, " has ", size,
                 " elements.");
  const Shape out = x.with(x.rank() - 1, k);
  return {{.shape = out, .dtype = c.in[0].dtype}, {.shape = out, .dtype = i64}};
}

// Throws unless a and b agree in all but the last axis.
Shape common_rows(const ShapeContext& c, size_t i, size_t j) {
  check_has_last(c, i);
  check_has_last(c, j);
  const Shape a = c.in[i].shape.slice(0, c.in[i].shape.rank() - 1),
              b = c.in[j].shape.slice(0, c.in[j].shape.rank() - 1);
  const std::string a_name = input_name(c, i) + " without the last axis", b_name = input_name(c, j) + " without it";
  internal::check_same_shape(c, a_name.c_str(), a, b_name.c_str(), b);
  return internal::more_known(a, b);
}

std::vector<TensorSpec> take_along_last_shape(const ShapeContext& c) {
  check_numeric(c, 0);
  internal::check_index_dtype(c, 1);
  Shape shape = common_rows(c, 0, 1);
  shape.push_back(c.in[1].shape.symbolic().back());
  return {{.shape = shape, .dtype = c.in[0].dtype}};
}

std::vector<TensorSpec> add_along_last_shape(const ShapeContext& c) {
  check_numeric(c, 0);
  internal::check_index_dtype(c, 1);
  internal::check_same_shape(c, "values", c.in[0].shape, "indices", c.in[1].shape);
  Shape shape = common_rows(c, 2, 1);
  shape.push_back(c.in[2].shape.symbolic().back());
  return {{.shape = shape, .dtype = c.in[0].dtype}};
}

// The last axis is not to be the rows.
Rows along_last_rows(const ShapeContext& c, size_t) { return internal::same_if(c.in[0].shape.rank() > 1); }

}  // namespace

constinit const OpDef op_top_k = {
    .name = "top_k",
    .doc = "values = the k largest elements along the last axis, largest first; indices = where they are",
    .inputs = {"x"},
    .outputs = {"values", "indices"},
    .attrs = &attrs_type<TopKAttrs>,
    .shape = top_k_shape,
    // dx[..., indices[j]] = dvalues[j]
    .gradient =
        [](const GradContext& c) {
          const Tensor dvalues = c.grad(0);
          return TensorList{dvalues.is_null() ? Tensor() : add_along_last(dvalues, c.output(1), c.input(0))};
        },
    .cpu = top_k_cpu,
    .rows_of = along_last_rows,
    .cost = elementwise_cost,
    .family = "Reductions",
};

constinit const OpDef op_take_along_last = {
    .name = "take_along_last",
    .doc = "y[..., j] = x[..., indices[..., j]]",
    .inputs = {"x", "indices"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = take_along_last_shape,
    // dx[..., indices[j]] += dy[j]
    .gradient =
        [](const GradContext& c) {
          return TensorList{add_along_last(c.grad(0), c.input(1), c.input(0)), Tensor()};
        },
    .cpu = take_along_last_cpu,
    .rows_of = along_last_rows,
    .cost = internal::copy_cost,
    .family = "Indexing",
};

constinit const OpDef op_add_along_last = {
    .name = "add_along_last",
    .doc = "y = 0, then y[..., indices[..., j]] += values[..., j]",
    .inputs = {"values", "indices", "like"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = add_along_last_shape,
    // dvalues[j] = dy[..., indices[j]]
    .gradient =
        [](const GradContext& c) {
          return TensorList{take_along_last(c.grad(0), c.input(1)), Tensor(), Tensor()};
        },
    .cpu = add_along_last_cpu,
    .rows_of = along_last_rows,
    .cost = internal::copy_cost,
    .family = "Indexing",
};

TopK top_k(Operand x, int64_t k, Name name) {
  const TensorList out = outputs_of(add_operation(op_top_k, {x}, Attrs(TopKAttrs{k}), name));
  return {out[0], out[1]};
}
Tensor take_along_last(Operand x, Operand indices, Name name) { return add_op(op_take_along_last, {x, indices}, name); }
Tensor add_along_last(Operand values, Operand indices, Operand like, Name name) {
  return add_op(op_add_along_last, {values, indices, like}, name);
}

}  // namespace martello
