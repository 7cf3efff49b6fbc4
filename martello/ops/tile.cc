#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/concat.h>
#include <martello/ops/dims.h>
#include <martello/ops/reduce.h>
#include <martello/ops/shape.h>
#include <martello/ops/tile.h>

#include <algorithm>

namespace martello {

Kernel tile_cpu(const KernelPlan&);

namespace {

std::vector<TensorSpec> tile_shape(const ShapeContext& c) {
  const auto& counts = c.attrs<TileAttrs>().counts;
  const Shape& x = c.in[0].shape;
  MARTELLO_CHECK(static_cast<int>(counts.size()) == x.rank(), c.where(), "counts ", internal::dims_text(counts),
                 " need one number per dimension of x ", c.in[0].str(), ".");
  Shape y;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t n = counts[static_cast<size_t>(i)];
    MARTELLO_CHECK(n >= 0, c.where(), "counts ", internal::dims_text(counts), " of x ", c.in[0].str(),
                   " must not be negative.");
    const int64_t size = x[i] < 0 ? kUnknown : checked_mul(x[i], n);
    y.push_back(n == 1 ? internal::dim_of(x, i) : n == 0 ? 0 : size);
  }
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

internal::KnownElements tile_value(const ShapeContext& c) {
  if (!c.value(0) || c.in[0].shape.rank() > 1) return std::nullopt;
  std::vector<int64_t> out;
  const int64_t n = c.in[0].shape.rank() == 1 ? c.attrs<TileAttrs>().counts[0] : 1;
  for (int64_t i = 0; i < n; ++i) out.insert(out.end(), c.value(0)->begin(), c.value(0)->end());
  return out;
}

// g with a dimension of its own for each count of the axes [begin, end), which `counted` names.
Tensor split_counts(Tensor g, Tensor x, const std::vector<int64_t>& counts, int begin, int end, Axes& counted) {
  std::vector<int64_t> dims;
  TensorList sizes;  // of each dimension, null where it is a number
  for (int i = 0; i < g.rank(); ++i) {
    const bool is_split = i >= begin && i < end && counts[static_cast<size_t>(i)] != 1;
    if (is_split) {
      counted.values().push_back(static_cast<int>(dims.size()));
      dims.push_back(counts[static_cast<size_t>(i)]);
      sizes.push_back(Tensor());
    }
    const Tensor whole = is_split ? x : g;
    dims.push_back(whole.dim(i));
    sizes.push_back(whole.dim(i) < 0 ? shape(whole)[i] : Tensor());
  }
  if (Shape(dims).is_known()) return reshape(g, Shape(dims));
  TensorList parts;
  for (size_t i = 0; i < dims.size(); ++i)
    parts.push_back(dims[i] < 0 ? sizes[i] : constant(HostTensor::full(Shape(), i64, static_cast<double>(dims[i]))));
  return reshape(g, stack(parts));
}

// dx = dy summed over the copies. A few axes at a time: sums take a limited number of dimensions.
TensorList tile_gradient(const GradContext& c) {
  constexpr int kAxesAtOnce = 2;
  const auto& counts = c.attrs<TileAttrs>().counts;
  Tensor g = c.grad(0);
  for (int begin = 0; begin < g.rank(); begin += kAxesAtOnce) {
    Axes counted;
    const int end = std::min(begin + kAxesAtOnce, g.rank());
    const auto first = counts.begin() + begin, last = counts.begin() + end;
    if (std::all_of(first, last, [](int64_t n) { return n == 1; })) continue;
    const Tensor split = split_counts(g, c.input(0), counts, begin, end, counted);
    g = reduce_sum(split, {.axes = counted});
  }
  return TensorList{g};
}

}  // namespace

constinit const OpDef op_tile = {
    .name = "tile",
    .doc = "y = x repeated counts[i] times along axis i",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<TileAttrs>,
    .shape = tile_shape,
    .gradient = tile_gradient,
    .cpu = tile_cpu,
    .value = tile_value,
    .rows_of = [](const ShapeContext& c, size_t) { return internal::same_if(c.attrs<TileAttrs>().counts.at(0) == 1); },
    .cost = internal::copy_cost,
    .family = "Shapes",
};

Tensor tile(Operand x, std::vector<int64_t> counts, Name name) {
  return add_op(op_tile, {x}, TileAttrs{std::move(counts)}, name);
}

}  // namespace martello
