#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/like.h>

#include <cmath>
#include <limits>

namespace martello {

Kernel sum_to_like_cpu(const KernelPlan&);
Kernel broadcast_cpu(const KernelPlan&);
Kernel size_of_cpu(const KernelPlan&);
Kernel fill_cpu(const KernelPlan&);
Kernel identity_cpu(const KernelPlan&);

namespace {

// Throws unless `from` broadcasts to exactly `to`, as far as sizes are known.
void check_broadcasts_to(const ShapeContext& c, const char* from_name, const Shape& from, const char* to_name,
                         const Shape& to) {
  bool is_ok = from.rank() <= to.rank();
  for (int i = 1; is_ok && i <= from.rank(); ++i) {
    const int64_t a = from[from.rank() - i], b = to[to.rank() - i];
    is_ok = a < 0 || b < 0 || a == 1 || a == b;
  }
  MARTELLO_CHECK(is_ok, c.where(), from_name, " ", from, " does not broadcast to ", to_name, " ", to,
                 ". Counted from the last, each of its sizes must be 1 or equal.");
}

std::vector<TensorSpec> sum_to_like_shape(const ShapeContext& c) {
  constexpr DTypeSet kSummed = DTypeSet::of(f32, f64, i32, i64);
  MARTELLO_CHECK(kSummed.has(c.in[0].dtype), c.where(), "g is ", c.in[0].str(), "; supported are ", kSummed,
                 ". Use cast().");
  check_broadcasts_to(c, "x", c.in[1].shape, "g", c.in[0].shape);
  return {{.shape = c.in[1].shape, .dtype = c.in[0].dtype}};
}

// The result has the rows of x. Those of g stay when x has them too, and are summed when it does not.
Rows sum_to_like_rows(const ShapeContext& c, size_t input) {
  const Shape &g = c.in[0].shape, &x = c.in[1].shape;
  if (input == 1) return Rows::same;
  return x.rank() == g.rank() && x.rank() > 0 && x[0] != 1 ? Rows::same : Rows::reduced;
}

std::vector<TensorSpec> broadcast_like_shape(const ShapeContext& c) {
  check_broadcasts_to(c, "x", c.in[0].shape, "like", c.in[1].shape);
  return {{.shape = c.in[1].shape, .dtype = c.in[0].dtype}};
}

std::vector<TensorSpec> shaped_like_shape(const ShapeContext& c) {
  internal::check_same_shape(c, "x", c.in[0].shape, "like", c.in[1].shape);
  return {{.shape = internal::more_known(c.in[0].shape, c.in[1].shape), .dtype = c.in[0].dtype}};
}

// The result is x. Rows of `like` are not compared: the op that reads both does that.
Rows shaped_like_rows(const ShapeContext&, size_t input) { return input == 0 ? Rows::same : Rows::reduced; }

void check_sizes(const ShapeContext& c, const Shape& shape) {
  for (const int64_t size : shape.symbolic())
    MARTELLO_CHECK(size >= 0, c.where(), "shape ", shape, " has an unknown or negative dimension. Give every size, or ",
                   "use broadcast_like().");
}

std::vector<TensorSpec> broadcast_to_shape(const ShapeContext& c) {
  const Shape shape(internal::asked_sizes(c, 1, c.attrs<BroadcastToAttrs>().shape));
  if (c.in.size() == 1) check_sizes(c, shape);
  check_broadcasts_to(c, "x", c.in[0].shape, "shape", shape);
  return {{.shape = shape, .dtype = c.in[0].dtype}};
}

constexpr DTypeSet kCounts = DTypeSet::of(f32, f64, i32, i64);

// Elements of `shape` along `axes`; nothing when a size is unknown or an axis is wrong.
std::optional<int64_t> find_size(const Shape& shape, const Axes& axes) {
  for (const int axis : axes.values())
    if (normalized_axis(axis, shape.rank()) < 0) return std::nullopt;
  const auto marked = internal::marked_axes(axes, shape.rank());
  Shape counted;
  for (size_t i = 0; i < marked.size(); ++i)
    if (marked[i]) counted.push_back(shape.symbolic()[i]);
  const bool is_repeated = !axes.empty() && axes.values().size() != static_cast<size_t>(counted.rank());
  if (is_repeated || !counted.is_known()) return std::nullopt;
  return counted.num_elements();
}

std::vector<TensorSpec> size_of_shape(const ShapeContext& c) {
  const auto& a = c.attrs<SizeOfAttrs>();
  MARTELLO_CHECK(kCounts.has(a.dtype), c.where(), "a count cannot be ", a.dtype, "; supported are ", kCounts, ".");
  internal::check_axes(c, 0, a.axes);
  const auto size = find_size(c.in[0].shape, a.axes);
  MARTELLO_CHECK(a.dtype != i32 || !size || *size <= std::numeric_limits<int32_t>::max(), c.where(), *size,
                 " elements of ", c.in[0].shape, " do not fit in i32. Use i64.");
  return {{.shape = Shape(), .dtype = a.dtype}};
}

std::optional<std::vector<int64_t>> size_of_value(const ShapeContext& c) {
  const auto size = find_size(c.in[0].shape, c.attrs<SizeOfAttrs>().axes);
  if (!size) return std::nullopt;
  return std::vector<int64_t>{*size};
}

std::vector<TensorSpec> fill_shape(const ShapeContext& c) {
  const auto& a = c.attrs<FillAttrs>();
  check_sizes(c, a.shape);
  a.shape.num_elements();
  MARTELLO_CHECK(is_floating(a.dtype) || a.value == std::floor(a.value), c.where(), "value ", a.value, " is not a ",
                 a.dtype, ".");
  return {{.shape = a.shape, .dtype = a.dtype}};
}

std::optional<std::vector<int64_t>> fill_value(const ShapeContext& c) {
  const auto& a = c.attrs<FillAttrs>();
  return std::vector<int64_t>(static_cast<size_t>(a.shape.num_elements()), static_cast<int64_t>(a.value));
}

// In every run: a bound of rows is no size.
bool are_as_large(const Operand& a, const Operand& b) {
  return !a.is_number() && !b.is_number() && a.tensor().shape() == b.tensor().shape() &&
         has_dynamic_rows(a.tensor()) == has_dynamic_rows(b.tensor());
}

}  // namespace

constinit const OpDef op_sum_to_like = {
    .name = "sum_to_like",
    .doc = "y = g summed down to the shape of x: the reverse of broadcasting x",
    .inputs = {"g", "x"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = sum_to_like_shape,
    // dg = dy repeated to the shape of g
    .gradient =
        [](const GradContext& c) {
          return TensorList{broadcast_like(c.grad(0), c.input(0)), Tensor()};
        },
    .cpu = sum_to_like_cpu,
    .in_place = {{{0, 0}}},
    .rows_of = sum_to_like_rows,
    .cost = elementwise_cost,
    .family = "Shapes",
};

constinit const OpDef op_broadcast_like = {
    .name = "broadcast_like",
    .doc = "y = x repeated to the shape of `like`",
    .inputs = {"x", "like"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = broadcast_like_shape,
    // dx = dy summed to the shape of x
    .gradient =
        [](const GradContext& c) {
          return TensorList{sum_to_like(c.grad(0), c.input(0)), Tensor()};
        },
    .cpu = broadcast_cpu,
    .rows_of = elementwise_rows,
    .broadcasts = true,
    .cost = elementwise_cost,
    .family = "Shapes",
};

constinit const OpDef op_shaped_like = {
    .name = "shaped_like",
    .doc = "y = x, which must have the shape of `like`",
    .inputs = {"x", "like"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = shaped_like_shape,
    .gradient =
        [](const GradContext& c) {
          return TensorList{c.grad(0), Tensor()};
        },
    .cpu = identity_cpu,
    .in_place = {{{0, 0}}},
    .is_alias = true,
    .rows_of = shaped_like_rows,
    .family = "Shapes",
};

constinit const OpDef op_broadcast_to = {
    .name = "broadcast_to",
    .doc = "y = x repeated to `shape`",
    .inputs = {"x", "shape..."},
    .outputs = {"y"},
    .attrs = &attrs_type<BroadcastToAttrs>,
    .shape = broadcast_to_shape,
    // dx = dy summed to the shape of x
    .gradient =
        [](const GradContext& c) {
          TensorList list = sum_to_like(c.grad(0), c.input(0));
          if (c.inputs.size() > 1) list.push_back(Tensor());
          return list;
        },
    .cpu = broadcast_cpu,
    .cost = elementwise_cost,
    .family = "Shapes",
};

constinit const OpDef op_size_of = {
    .name = "size_of",
    .doc = "n = the number of elements of x along `axes`, as a `dtype`",
    .inputs = {"x"},
    .outputs = {"n"},
    .attrs = &attrs_type<SizeOfAttrs>,
    .shape = size_of_shape,
    .gradient = no_gradient,
    .cpu = size_of_cpu,
    .value = size_of_value,
    .rows = Rows::reduced,
    .family = "Shapes",
};

constinit const OpDef op_fill = {
    .name = "fill",
    .doc = "y = `value` everywhere",
    .outputs = {"y"},
    .attrs = &attrs_type<FillAttrs>,
    .shape = fill_shape,
    .gradient = no_gradient,
    .cpu = fill_cpu,
    .value = fill_value,
    .cost = elementwise_cost,
    .family = "Sources",
};

Tensor sum_to_like(Operand g, Operand x, Name name) {
  if (are_as_large(g, x)) return g.tensor();
  return add_op(op_sum_to_like, {g, x}, name);
}

Tensor broadcast_like(Operand x, Operand like, Name name) {
  if (are_as_large(x, like)) return x.tensor();
  return add_op(op_broadcast_like, {x, like}, name);
}

Tensor shaped_like(Operand x, Operand like, Name name) {
  if (are_as_large(x, like)) return x.tensor();
  return add_op(op_shaped_like, {x, like}, name);
}

Tensor broadcast_to(Operand x, Extents shape, Name name) {
  BroadcastToAttrs attrs{shape.is_static() ? shape.shape() : Shape()};
  return add_op(op_broadcast_to, with_extents({x}, shape, name), std::move(attrs), name);
}

Tensor size_of(Operand x, SizeOfAttrs attrs, Name name) {
  if (!x.is_number()) {
    const NodeOutput& of = output_of(x.tensor());
    const auto size = find_size(of.shape, attrs.axes);
    if (size && !of.has_dynamic_rows && kCounts.has(attrs.dtype) && attrs.dtype != i32)
      return constant(HostTensor::full(Shape(), attrs.dtype, static_cast<double>(*size)), name);
  }
  return add_op(op_size_of, {x}, std::move(attrs), name);
}

Tensor fill(FillAttrs attrs, Name name) { return add_op(op_fill, {}, std::move(attrs), name); }
Tensor zeros(Shape shape, DType dtype, Name name) { return fill({std::move(shape), dtype, 0}, name); }
Tensor ones(Shape shape, DType dtype, Name name) { return fill({std::move(shape), dtype, 1}, name); }

}  // namespace martello
