#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/ops/concat.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/shape.h>
#include <martello/ops/split.h>

#include <algorithm>

namespace martello {

Kernel concat_cpu(const KernelPlan&);

namespace {

using internal::dim_of;

void check_list(const ShapeContext& c) {
  MARTELLO_CHECK(!c.in.empty(), c.where(), "xs is empty. Give at least one tensor.");
  for (size_t i = 1; i < c.in.size(); ++i)
    MARTELLO_CHECK(c.in[i].dtype == c.in[0].dtype && c.in[i].shape.rank() == c.in[0].shape.rank(), c.where(),
                   "xs[0] is ", c.in[0].str(), " but xs[", i, "] is ", c.in[i].str(),
                   "; they must have one dtype and rank.");
}

// The shape that all inputs have, `axis` left out of the comparison.
Shape common_shape(const ShapeContext& c, int without) {
  Shape common = c.in[0].shape;
  for (size_t i = 1; i < c.in.size(); ++i)
    for (int d = 0; d < common.rank(); ++d) {
      MARTELLO_CHECK(d == without || internal::may_be_equal(common[d], c.in[i].shape[d]), c.where(), "dimension ", d,
                     " of xs[0] ", c.in[0].shape, " and of xs[", i, "] ", c.in[i].shape, " differ: ", common[d],
                     " and ", c.in[i].shape[d], ".");
      common = common.with(d, internal::more_known(dim_of(common, d), dim_of(c.in[i].shape, d)));
    }
  return common;
}

std::vector<TensorSpec> concat_shape(const ShapeContext& c) {
  check_list(c);
  const int axis = c.check_axis(0, c.attrs<AxisAttrs>().axis);
  const Shape common = common_shape(c, axis);
  int64_t sum = 0;
  for (const TensorSpec& x : c.in) sum = sum < 0 || x.shape[axis] < 0 ? kUnknown : checked_add(sum, x.shape[axis]);
  if (c.in.size() == 1) sum = dim_of(c.in[0].shape, axis);
  return {{.shape = common.with(axis, sum), .dtype = c.in[0].dtype}};
}

std::vector<TensorSpec> stack_shape(const ShapeContext& c) {
  check_list(c);
  const int asked = c.attrs<AxisAttrs>().axis, axis = normalized_axis(asked, c.in[0].shape.rank() + 1);
  MARTELLO_CHECK(axis >= 0, c.where(), "axis ", asked, " is out of range for a stack of ", c.in[0].str(), ".");
  auto dims = common_shape(c, -1).symbolic();
  dims.insert(dims.begin() + axis, static_cast<int64_t>(c.in.size()));
  return {{.shape = Shape(dims), .dtype = c.in[0].dtype}};
}

// Of vectors, or of scalars.
internal::KnownElements joined_elements(const ShapeContext& c) {
  std::vector<int64_t> all;
  for (size_t i = 0; i < c.in.size(); ++i) {
    const auto elements = internal::elements_of(c, i);
    if (!elements || c.in[i].shape.rank() > 1) return std::nullopt;
    all.insert(all.end(), elements->begin(), elements->end());
  }
  return all;
}

// dxs = dy cut at the same places
TensorList concat_gradient(const GradContext& c) {
  const int axis = normalized_axis(c.attrs<AxisAttrs>().axis, c.output(0).rank());
  std::vector<int64_t> sizes;
  for (const Tensor& x : c.inputs) sizes.push_back(x.dim(axis));
  if (std::count(sizes.begin(), sizes.end(), kUnknown) <= 1) return split(c.grad(0), Shape(sizes), axis);
  TensorList list;
  for (const Tensor& x : c.inputs) list.push_back(shape(x)[axis]);
  return split(c.grad(0), Extents(stack(list)), axis);
}

}  // namespace

constinit const OpDef op_concat = {
    .name = "concat",
    .doc = "y = xs side by side along `axis`",
    .inputs = {"xs..."},
    .outputs = {"y"},
    .attrs = &attrs_type<AxisAttrs>,
    .shape = concat_shape,
    .gradient = concat_gradient,
    .cpu = concat_cpu,
    .value = joined_elements,
    .rows_of = [](const ShapeContext& c,
                  size_t) { return internal::same_if(c.check_axis(0, c.attrs<AxisAttrs>().axis) > 0); },
    .cost = internal::copy_cost,
    .channels_last =
        [](std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs& attrs) {
          if (out[0].shape.rank() != 4) return std::optional<ChannelsLast>();
          const AxisAttrs a{internal::axis_with_channels_last(attrs.get<AxisAttrs>().axis)};
          ChannelsLast last{.attrs = Attrs(a), .outputs = {0}};
          for (size_t i = 0; i < in.size(); ++i) last.inputs.push_back(static_cast<int>(i));
          return std::optional(std::move(last));
        },
    .family = "Shapes",
};

constinit const OpDef op_stack = {
    .name = "stack",
    .doc = "y = xs side by side along a new dimension before dimension `axis`",
    .inputs = {"xs..."},
    .outputs = {"y"},
    .attrs = &attrs_type<AxisAttrs>,
    .shape = stack_shape,
    // dxs = the slices of dy
    .gradient =
        [](const GradContext& c) {
          const int axis = normalized_axis(c.attrs<AxisAttrs>().axis, c.output(0).rank());
          return unstack(c.grad(0), axis);
        },
    .cpu = concat_cpu,
    .value = [](const ShapeContext& c) { return c.in[0].shape.rank() == 0 ? joined_elements(c) : std::nullopt; },
    .rows_of =
        [](const ShapeContext& c, size_t) {
          return internal::same_if(normalized_axis(c.attrs<AxisAttrs>().axis, c.in[0].shape.rank() + 1) > 0);
        },
    .cost = internal::copy_cost,
    .family = "Shapes",
};

namespace {
Tensor join(const OpDef& def, const TensorList& xs, int axis, Name name) {
  std::vector<Operand> in;
  for (const Tensor& x : xs) in.push_back(Operand(x, name.line()));
  return add_op(def, in, AxisAttrs{axis}, name);
}
}  // namespace

Tensor concat(TensorList xs, int axis, Name name) { return join(op_concat, xs, axis, name); }
Tensor stack(TensorList xs, int axis, Name name) { return join(op_stack, xs, axis, name); }

}  // namespace martello
