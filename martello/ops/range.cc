#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/concat.h>
#include <martello/ops/dims.h>
#include <martello/ops/like.h>
#include <martello/ops/range.h>
#include <martello/ops/shape.h>

#include <algorithm>
#include <cmath>

namespace martello {

Kernel range_cpu(const KernelPlan&);
Kernel eye_cpu(const KernelPlan&);
Kernel invert_permutation_cpu(const KernelPlan&);

namespace {

constexpr double kMostElements = 9007199254740992.0;

int64_t count_between(const ShapeContext& c, double start, double limit, double delta) {
  MARTELLO_CHECK(std::isfinite(start) && std::isfinite(limit) && std::isfinite(delta) && delta != 0, c.where(), "from ",
                 start, " to ", limit, " by ", delta, ": all must be finite and delta not 0.");
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  MARTELLO_CHECK(count <= kMostElements, c.where(), "from ", start, " to ", limit, " by ", delta,
                 " has too many elements: ", count, ".");
  return static_cast<int64_t>(count);
}

// Bounds that come as inputs: known sizes, or a symbol that counts from 0.
int64_t count_of_inputs(const ShapeContext& c) {
  int64_t bound[3] = {kUnknown, kUnknown, kUnknown};
  const bool has_values = c.value(0) && c.value(1) && c.value(2);
  for (size_t i = 0; has_values && i < 3; ++i) bound[i] = (*c.value(i))[0];
  if (bound[0] == 0 && bound[2] == 1 && bound[1] < 0) return bound[1];
  if (bound[0] < 0 || bound[1] < 0 || bound[2] <= 0) return kUnknown;
  const int64_t distance = std::max<int64_t>(0, bound[1] - bound[0]);
  return distance / bound[2] + (distance % bound[2] != 0);
}

std::vector<TensorSpec> range_shape(const ShapeContext& c) {
  const auto& a = c.attrs<RangeAttrs>();
  Shape y;
  if (c.in.empty()) {
    MARTELLO_CHECK(a.dtype != boolean && a.dtype != bf16 && a.dtype != f16, c.where(), "cannot count in ", a.dtype,
                   "; supported are f32, f64, i32, i64, u8.");
    y.push_back(count_between(c, a.start, a.limit, a.delta));
    return {{.shape = y, .dtype = a.dtype}};
  }
  MARTELLO_CHECK(c.in.size() == 3, c.where(), "takes start, limit and delta, or none, but was given ", c.in.size(),
                 " inputs.");
  for (size_t i = 0; i < 3; ++i) {
    internal::check_index_dtype(c, i);
    MARTELLO_CHECK(c.in[i].shape.rank() == 0 && c.in[i].dtype == c.in[0].dtype, c.where(), "input ", i, " is ",
                   c.in[i].str(), "; start, limit and delta are scalars of one dtype (", c.in[0].str(), ").");
  }
  MARTELLO_CHECK(!c.value(2) || (*c.value(2))[0] != 0, c.where(), "delta is 0.");
  y.push_back(count_of_inputs(c));
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

internal::KnownElements range_value(const ShapeContext& c) {
  const auto& a = c.attrs<RangeAttrs>();
  const int64_t n = range_shape(c)[0].shape[0];
  if (n < 0 || (!c.in.empty() && !(c.value(0) && c.value(2)))) return std::nullopt;
  const int64_t start = c.in.empty() ? static_cast<int64_t>(a.start) : (*c.value(0))[0];
  const int64_t delta = c.in.empty() ? static_cast<int64_t>(a.delta) : (*c.value(2))[0];
  std::vector<int64_t> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(start + i * delta);
  // A negative element would read as an unknown one.
  const bool all_known = std::all_of(out.begin(), out.end(), [](int64_t v) { return v >= 0; });
  return all_known ? internal::KnownElements(out) : std::nullopt;
}

std::vector<TensorSpec> eye_shape(const ShapeContext& c) {
  const auto& a = c.attrs<EyeAttrs>();
  MARTELLO_CHECK(a.rows >= 0 && a.columns >= 0, c.where(), "a matrix of ", a.rows, " rows and ", a.columns,
                 " columns does not exist.");
  const Shape y(a.rows, a.columns);
  y.num_elements();
  return {{.shape = y, .dtype = a.dtype}};
}

std::vector<TensorSpec> invert_permutation_shape(const ShapeContext& c) {
  internal::check_index_dtype(c, 0);
  c.check_rank(0, 1);
  return {{.shape = c.in[0].shape, .dtype = c.in[0].dtype}};
}

}  // namespace

constinit const OpDef op_range = {
    .name = "range",
    .doc = "y[i] = start + i * delta before `limit`",
    .inputs = {"bounds..."},
    .outputs = {"y"},
    .attrs = &attrs_type<RangeAttrs>,
    .shape = range_shape,
    .gradient = no_gradient,
    .cpu = range_cpu,
    .value = range_value,
    .cost = internal::copy_cost,
    .family = "Sources",
};

constinit const OpDef op_eye = {
    .name = "eye",
    .doc = "y[i, j] = i == j ? 1 : 0",
    .outputs = {"y"},
    .attrs = &attrs_type<EyeAttrs>,
    .shape = eye_shape,
    .gradient = no_gradient,
    .cpu = eye_cpu,
    .cost = internal::copy_cost,
    .family = "Sources",
};

constinit const OpDef op_invert_permutation = {
    .name = "invert_permutation",
    .doc = "y[p[i]] = i",
    .inputs = {"p"},
    .outputs = {"y"},
    .shape = invert_permutation_shape,
    .gradient = no_gradient,
    .cpu = invert_permutation_cpu,
    .rows = Rows::same,
    .cost = internal::copy_cost,
    .family = "Indexing",
};

Tensor range(Operand start, Operand limit, Operand delta, Name name) {
  const bool all_numbers = start.is_number() && limit.is_number() && delta.is_number();
  if (!all_numbers) return add_op(op_range, {start, limit, delta}, RangeAttrs{}, name);
  const bool all_integral = start.is_integral() && limit.is_integral() && delta.is_integral();
  LineScope line(start.line());
  return add_op(op_range, {}, RangeAttrs{start.number(), limit.number(), delta.number(), all_integral ? i64 : f32},
                name);
}

Tensor eye(int64_t n, DType dtype, Name name) { return eye({n, n, dtype}, name); }
Tensor eye(EyeAttrs attrs, Name name) { return add_op(op_eye, {}, attrs, name); }
Tensor invert_permutation(Operand p, Name name) { return add_op(op_invert_permutation, {p}, name); }

TensorList meshgrid(TensorList xs, MeshgridAttrs attrs, Name name) {
  LineScope line(name.line());
  for (const Tensor& x : xs)
    MARTELLO_CHECK(x.rank() == 1, "[meshgrid '", name.text(), "'] takes vectors but '", x.name(), "' is ", x.shape(),
                   ".\n  at ", LineScope::effective(name.line()).str());
  const bool swaps = !attrs.matrix_indexing && xs.size() > 1;
  const auto axis_of = [&](size_t i) { return swaps && i < 2 ? 1 - i : i; };
  TensorList sizes;
  for (size_t i = 0; i < xs.size(); ++i) sizes.push_back(size(xs[axis_of(i)]));
  TensorList grids;
  for (size_t i = 0; i < xs.size(); ++i) {
    Shape column(std::vector<int64_t>(xs.size(), 1));
    const Tensor line_of_x = reshape(xs[i], column.with(static_cast<int>(axis_of(i)), kUnknown));
    grids.push_back(broadcast_to(line_of_x, Extents(stack(sizes)), name));
  }
  return grids;
}

}  // namespace martello
