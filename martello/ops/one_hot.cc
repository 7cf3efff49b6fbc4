#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/one_hot.h>

#include <cmath>

namespace martello {

Kernel one_hot_cpu(const KernelPlan&);

namespace {

std::vector<TensorSpec> one_hot_shape(const ShapeContext& c) {
  const auto& a = c.attrs<OneHotAttrs>();
  const Shape& x = c.in[0].shape;
  MARTELLO_CHECK(is_integer(c.in[0].dtype), c.where(), "indices are ", c.in[0].str(), "; supported are i32, i64, u8.");
  MARTELLO_CHECK(a.depth >= 0, c.where(), "depth is ", a.depth, "; it must not be negative.");
  const bool fits = is_floating(a.dtype) || (a.on == std::floor(a.on) && a.off == std::floor(a.off));
  MARTELLO_CHECK(fits, c.where(), "on ", a.on, " or off ", a.off, " is not a ", a.dtype, ".");
  const int axis = normalized_axis(a.axis, x.rank() + 1);
  MARTELLO_CHECK(axis >= 0, c.where(), "axis ", a.axis, " is out of range for indices ", c.in[0].str(),
                 " with one more dimension.");
  auto dims = x.symbolic();
  dims.insert(dims.begin() + axis, a.depth);
  return {{.shape = Shape(dims), .dtype = a.dtype}};
}

}  // namespace

constinit const OpDef op_one_hot = {
    .name = "one_hot",
    .doc = "y[i, k] = indices[i] == k ? on : off, with k at `axis`",
    .inputs = {"indices"},
    .outputs = {"y"},
    .attrs = &attrs_type<OneHotAttrs>,
    .shape = one_hot_shape,
    .gradient = no_gradient,
    .cpu = one_hot_cpu,
    .rows_of =
        [](const ShapeContext& c, size_t) {
          return internal::same_if(normalized_axis(c.attrs<OneHotAttrs>().axis, c.in[0].shape.rank() + 1) > 0);
        },
    .cost = internal::copy_cost,
    .family = "Indexing",
};

Tensor one_hot(Operand indices, int64_t depth, OneHotAttrs attrs, Name name) {
  attrs.depth = depth;
  return add_op(op_one_hot, {indices}, attrs, name);
}

}  // namespace martello
