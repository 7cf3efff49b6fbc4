#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/reshape.h>

#include <algorithm>

namespace martello {

Kernel reshape_cpu(const KernelPlan&);

namespace {

using internal::dim_of;
using internal::dims_text;
using internal::same_if;

// Dimensions of one side as a product of sizes and a list of unknowns.
struct Product {
  int64_t known = 1;
  std::vector<int64_t> unknown = {};
};

Product product_of(const std::vector<int64_t>& dims, size_t begin, size_t end, size_t without) {
  Product p;
  std::vector<int64_t> known;
  for (size_t i = begin; i < end; ++i)
    if (i != without) (dims[i] < 0 ? p.unknown : known).push_back(dims[i]);
  p.known = checked_product(known);
  return p;
}

// Takes symbols that stand on both sides out of both.
void cancel(Product& a, Product& b) {
  std::erase_if(a.unknown, [&](int64_t symbol) {
    const auto it = symbol == kUnknown ? b.unknown.end() : std::find(b.unknown.begin(), b.unknown.end(), symbol);
    if (it == b.unknown.end()) return false;
    b.unknown.erase(it);
    return true;
  });
}

bool has_zero(const std::vector<int64_t>& dims) { return std::find(dims.begin(), dims.end(), 0) != dims.end(); }

class Reshaping {
 public:
  Reshaping(const ShapeContext& c, std::vector<int64_t> sizes)
      : c_(c), x_(c.in[0].shape.symbolic()), y_(std::move(sizes)) {
    const auto minus_one = std::count(y_.begin(), y_.end(), kUnknown);
    MARTELLO_CHECK(minus_one <= 1 || c.in.size() > 1, c.where(), "shape ", dims_text(y_), " has ", minus_one,
                   " sizes of -1; of x ", c.in[0].str(), " one can be inferred. Use shape(x)[i] for the others.");
    if (minus_one == 1) inferred_ = static_cast<size_t>(std::find(y_.begin(), y_.end(), kUnknown) - y_.begin());
    is_complete_ = minus_one == 0;
    compare();
  }
  Shape shape() const { return Shape(y_); }

 private:
  // Equal outer and inner dimensions take no part, so that -1 beside an empty batch is still known.
  void compare() {
    const size_t n = std::min(x_.size(), y_.size());
    size_t front = 0, back = 0;
    const auto agree = [](int64_t a, int64_t b) { return a == b && a != kUnknown; };
    while (front < n && agree(x_[front], y_[front])) ++front;
    while (back < n - front && agree(x_[x_.size() - 1 - back], y_[y_.size() - 1 - back])) ++back;
    Product from = product_of(x_, front, x_.size() - back, kNone);
    Product to = product_of(y_, front, y_.size() - back, inferred_);
    cancel(from, to);
    if (inferred_ != kNone) {
      infer(from, to);
    } else if (is_complete_ && from.unknown.empty() && to.unknown.empty()) {
      const bool is_empty = has_zero(x_) && has_zero(y_);
      MARTELLO_CHECK(is_empty || from.known == to.known, c_.where(), "x ", c_.in[0].shape,
                     " has not as many elements as the shape ", dims_text(y_), " asks for (", from.known, " and ",
                     to.known, " in the dimensions that differ).");
    }
  }

  void infer(const Product& from, const Product& to) {
    if (from.unknown.empty() && to.unknown.empty()) {
      MARTELLO_CHECK(to.known > 0, c_.where(), "-1 beside a size of 0 in ", dims_text(y_),
                     " could be anything. Give every size.");
      MARTELLO_CHECK(from.known % to.known == 0, c_.where(), "x ", c_.in[0].shape, " does not divide into ",
                     dims_text(y_), ": ", from.known, " elements are not a multiple of ", to.known, ".");
      y_[inferred_] = from.known / to.known;
    } else if (from.unknown.size() == 1 && to.unknown.empty() && from.known == to.known) {
      y_[inferred_] = from.unknown[0];
    }
  }

  static constexpr size_t kNone = static_cast<size_t>(-1);
  const ShapeContext& c_;
  const std::vector<int64_t>& x_;
  std::vector<int64_t> y_;
  size_t inferred_ = kNone;
  bool is_complete_ = false;
};

std::vector<TensorSpec> reshape_shape(const ShapeContext& c) {
  const auto sizes = internal::asked_sizes(c, 1, c.attrs<ReshapeAttrs>().shape);
  if (c.in.size() == 1)
    for (const int64_t d : sizes)
      MARTELLO_CHECK(d >= kUnknown, c.where(), "size ", d, " in shape ", dims_text(sizes), " is negative.");
  return {{.shape = Reshaping(c, sizes).shape(), .dtype = c.in[0].dtype}};
}

// Equal first dimensions leave each row its elements.
Rows reshape_rows(const ShapeContext& c, size_t) {
  const Shape& x = c.in[0].shape;
  const Shape y = reshape_shape(c)[0].shape;
  return same_if(x.rank() > 0 && y.rank() > 0 && internal::may_be_equal(x[0], y[0]));
}

std::vector<TensorSpec> flatten_shape(const ShapeContext& c) {
  const Shape& x = c.in[0].shape;
  MARTELLO_CHECK(x.rank() > 0, c.where(), "x is a scalar and has no first dimension to keep. Use reshape().");
  const Shape rest = x.slice(1, x.rank());
  int64_t columns = kUnknown;
  if (rest.is_known()) columns = rest.num_elements();
  if (rest.rank() == 1) columns = dim_of(rest, 0);
  Shape y;
  y.push_back(dim_of(x, 0));
  y.push_back(columns);
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

std::vector<TensorSpec> expand_dims_shape(const ShapeContext& c) {
  const Shape& x = c.in[0].shape;
  const int asked = c.attrs<AxisAttrs>().axis, axis = normalized_axis(asked, x.rank() + 1);
  MARTELLO_CHECK(axis >= 0, c.where(), "axis ", asked, " is out of range for x ", c.in[0].str(), ", which can grow at ",
                 -x.rank() - 1, " to ", x.rank(), ".");
  auto dims = x.symbolic();
  dims.insert(dims.begin() + axis, 1);
  return {{.shape = Shape(dims), .dtype = c.in[0].dtype}};
}

std::vector<bool> squeezed_axes(const ShapeContext& c) {
  const Shape& x = c.in[0].shape;
  const auto& axes = c.attrs<SqueezeAttrs>().axes;
  std::vector<bool> drop(static_cast<size_t>(x.rank()), false);
  MARTELLO_CHECK(!axes.empty() || x.is_known(), c.where(), "x ", c.in[0].str(),
                 " has unknown dimensions, which may or may not be 1. Name the axes.");
  for (int i = 0; axes.empty() && i < x.rank(); ++i) drop[static_cast<size_t>(i)] = x[i] == 1;
  for (const int asked : axes) {
    const int axis = c.check_axis(0, asked);
    MARTELLO_CHECK(internal::may_be_equal(x[axis], 1), c.where(), "dimension ", axis, " of x ", c.in[0].str(), " is ",
                   x[axis], ", not 1.");
    drop[static_cast<size_t>(axis)] = true;
  }
  return drop;
}

std::vector<TensorSpec> squeeze_shape(const ShapeContext& c) {
  const auto drop = squeezed_axes(c);
  Shape y;
  for (size_t i = 0; i < drop.size(); ++i)
    if (!drop[i]) y.push_back(c.in[0].shape.symbolic()[i]);
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

// dx = dy in the shape of x
TensorList reshape_gradient(const GradContext& c) {
  const Tensor dx = reshape(c.grad(0), extents_like(c.input(0)));
  return c.inputs.size() == 1 ? TensorList{dx} : TensorList{dx, Tensor()};
}

}  // namespace

constinit const OpDef op_reshape = {
    .name = "reshape",
    .doc = "y = the elements of x in another shape",
    .inputs = {"x", "shape..."},
    .outputs = {"y"},
    .attrs = &attrs_type<ReshapeAttrs>,
    .shape = reshape_shape,
    .gradient = reshape_gradient,
    .cpu = reshape_cpu,
    .value = internal::same_elements,
    .is_alias = true,
    .rows_of = reshape_rows,
    .family = "Shapes",
};

constinit const OpDef op_flatten = {
    .name = "flatten",
    .doc = "y = x of shape [N, ...] as [N, product of the rest]",
    .inputs = {"x"},
    .outputs = {"y"},
    .shape = flatten_shape,
    .gradient = reshape_gradient,
    .cpu = reshape_cpu,
    .value = internal::same_elements,
    .is_alias = true,
    .rows = Rows::same,
    .family = "Shapes",
};

constinit const OpDef op_expand_dims = {
    .name = "expand_dims",
    .doc = "y = x with a new dimension of 1 before dimension `axis`",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<AxisAttrs>,
    .shape = expand_dims_shape,
    // dx = dy without that dimension
    .gradient =
        [](const GradContext& c) {
          const int axis = normalized_axis(c.attrs<AxisAttrs>().axis, c.output(0).rank());
          return TensorList{squeeze(c.grad(0), {axis})};
        },
    .cpu = reshape_cpu,
    .value = internal::same_elements,
    .is_alias = true,
    .rows_of = [](const ShapeContext& c,
                  size_t) { return same_if(normalized_axis(c.attrs<AxisAttrs>().axis, c.in[0].shape.rank() + 1) > 0); },
    .family = "Shapes",
};

constinit const OpDef op_squeeze = {
    .name = "squeeze",
    .doc = "y = x without the dimensions `axes`, which are 1; none named: without all that are 1",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<SqueezeAttrs>,
    .shape = squeeze_shape,
    .gradient = reshape_gradient,
    .cpu = reshape_cpu,
    .value = internal::same_elements,
    .is_alias = true,
    .rows_of = [](const ShapeContext& c, size_t) { return same_if(!squeezed_axes(c)[0]); },
    .family = "Shapes",
};

Tensor reshape(Operand x, Extents shape, Name name) {
  return add_op(op_reshape, with_extents({x}, shape, name), ReshapeAttrs{shape.is_static() ? shape.shape() : Shape()},
                name);
}
Tensor flatten(Operand x, Name name) { return add_op(op_flatten, {x}, name); }
Tensor expand_dims(Operand x, int axis, Name name) { return add_op(op_expand_dims, {x}, AxisAttrs{axis}, name); }
Tensor squeeze(Operand x, std::vector<int> axes, Name name) {
  return add_op(op_squeeze, {x}, SqueezeAttrs{std::move(axes)}, name);
}

}  // namespace martello
