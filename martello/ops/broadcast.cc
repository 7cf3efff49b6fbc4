#include <martello/base/error.h>
#include <martello/ops/broadcast.h>

#include <algorithm>

namespace martello {
namespace {

TensorSpec spec_of(Shape shape, DType dtype) { return {.shape = std::move(shape), .dtype = dtype}; }

std::string text_of(const TensorSpec& spec) { return str(spec.dtype, spec.shape); }

// Symbolic dimension i of `shape` counted from the end, 1 beyond its rank.
int64_t dim_from_end(const Shape& shape, int i) {
  return i < shape.rank() ? shape.symbolic()[static_cast<size_t>(shape.rank() - 1 - i)] : 1;
}

std::optional<int64_t> broadcast_dims(int64_t a, int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (a >= 0 && b >= 0) return std::nullopt;
  return a < 0 && b < 0 ? kUnknown : std::max(a, b);
}

std::vector<TensorSpec> elementwise_shape(const ShapeContext& c, DTypeSet allowed) {
  check_dtypes(c, allowed);
  return {spec_of(broadcast_shapes(c), c.in[0].dtype)};
}

// The input that brought the size `shape` cannot agree with.
size_t find_opponent(const ShapeContext& c, size_t first, const Shape& shape) {
  for (size_t i = first; i < c.in.size(); ++i)
    if (!broadcast(c.in[i].shape, shape)) return i;
  return first;
}

}  // namespace

std::string DTypeSet::str() const {
  std::vector<std::string> names;
  for (int d = 0; d < kDTypes; ++d)
    if (has(static_cast<DType>(d))) names.emplace_back(to_string(static_cast<DType>(d)));
  return join(names);
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    const auto dim = broadcast_dims(dim_from_end(a, i), dim_from_end(b, i));
    if (!dim) return std::nullopt;
    dims[static_cast<size_t>(rank - 1 - i)] = *dim;
  }
  return Shape(std::move(dims));
}

Shape broadcast_shapes(const ShapeContext& c, size_t first) {
  Shape shape = c.in[first].shape;
  for (size_t i = first + 1; i < c.in.size(); ++i) {
    const auto both = broadcast(shape, c.in[i].shape);
    if (!both) {
      const size_t j = find_opponent(c, first, c.in[i].shape);
      throw InvalidArgument(str(c.where(), input_name(c, j), " is ", text_of(c.in[j]), " but ", input_name(c, i),
                                " is ", text_of(c.in[i]),
                                ". Counted from the last, sizes must be equal or one of them 1."));
    }
    shape = *both;
  }
  return shape;
}

std::string input_name(const ShapeContext& c, size_t i) {
  const OpDef* def = find_op(c.op.type);
  if (def == nullptr || def->inputs.size() == 0) return str("input ", i);
  const size_t last = static_cast<size_t>(def->inputs.size()) - 1;
  if (i < last || !def->inputs.is_variadic()) return def->inputs.names[std::min(i, last)];
  const std::string_view list = def->inputs.names[last];
  return str(list.substr(0, list.size() - 3), "[", i - last, "]");
}

void check_dtypes(const ShapeContext& c, DTypeSet allowed, size_t first) {
  const TensorSpec& a = c.in[first];
  MARTELLO_CHECK(allowed.has(a.dtype), c.where(), input_name(c, first), " is ", text_of(a), "; ", c.op.type, " takes ",
                 allowed, ". Use cast(", input_name(c, first), ", ...).");
  for (size_t i = first + 1; i < c.in.size(); ++i)
    MARTELLO_CHECK(c.in[i].dtype == a.dtype, c.where(), input_name(c, first), " is ", text_of(a), " but ",
                   input_name(c, i), " is ", text_of(c.in[i]), ". Use cast(", input_name(c, i), ", ", a.dtype, ").");
}

std::vector<TensorSpec> floating_shape(const ShapeContext& c) { return elementwise_shape(c, kFloatingDTypes); }
std::vector<TensorSpec> numeric_shape(const ShapeContext& c) { return elementwise_shape(c, kNumericDTypes); }
std::vector<TensorSpec> integer_shape(const ShapeContext& c) { return elementwise_shape(c, kIntegerDTypes); }
std::vector<TensorSpec> logical_shape(const ShapeContext& c) { return elementwise_shape(c, DTypeSet::of(boolean)); }

std::vector<TensorSpec> comparison_shape(const ShapeContext& c) {
  check_dtypes(c, kComparedDTypes);
  return {spec_of(broadcast_shapes(c), boolean)};
}

std::vector<TensorSpec> predicate_shape(const ShapeContext& c) {
  check_dtypes(c, kFloatingDTypes);
  return {spec_of(broadcast_shapes(c), boolean)};
}

std::vector<TensorSpec> same_shape(const ShapeContext& c) { return {spec_of(c.in[0].shape, c.in[0].dtype)}; }

Rows elementwise_rows(const ShapeContext& c, size_t i) {
  const Shape& x = c.in[i].shape;
  const auto is_beside = [&](const TensorSpec& other) {
    return other.shape.rank() <= x.rank() &&
           (x.rank() == 0 || x[0] != 1 || other.shape.rank() < x.rank() || other.shape[0] == 1);
  };
  return std::all_of(c.in.begin(), c.in.end(), is_beside) ? Rows::same : Rows::refused;
}

Cost elementwise_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&) {
  Cost cost;
  for (const TensorSpec& x : in)
    cost.bytes += static_cast<double>(x.shape.num_elements()) * static_cast<double>(size_of(x.dtype));
  for (const TensorSpec& y : out) {
    const double count = static_cast<double>(y.shape.num_elements());
    cost.flops += count;
    cost.bytes += count * static_cast<double>(size_of(y.dtype));
  }
  return cost;
}

}  // namespace martello
