#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/gather.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/internal/slice_range.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/ops/slice.h>

#include <algorithm>

namespace martello {

Kernel slice_cpu(const KernelPlan&);
Kernel strided_slice_cpu(const KernelPlan&);
Kernel strided_slice_grad_cpu(const KernelPlan&);
Kernel select_row_cpu(const KernelPlan&);
Kernel reverse_cpu(const KernelPlan&);

namespace {

using internal::dims_text;
using internal::is_whole;
using internal::same_if;
using internal::SliceRange;

Shape sliced_shape(const StridedSliceAttrs& a, const Shape& x) {
  Shape y;
  for (const SliceRange& r : internal::slice_ranges(a, x)) y.push_back(r.size);
  return y;
}

// Elements of a sliced vector.
internal::KnownElements sliced_elements(const ShapeContext& c, const StridedSliceAttrs& a) {
  if (!c.value(0) || c.in[0].shape.rank() != 1) return std::nullopt;
  const SliceRange r = internal::slice_ranges(a, c.in[0].shape)[0];
  std::vector<int64_t> out;
  for (int64_t i = 0; i < r.size; ++i) out.push_back((*c.value(0))[static_cast<size_t>(r.begin + i * r.stride)]);
  return out;
}

std::vector<TensorSpec> slice_shape(const ShapeContext& c) {
  const auto& a = c.attrs<SliceAttrs>();
  const Shape& x = c.in[0].shape;
  const size_t rank = static_cast<size_t>(x.rank());
  MARTELLO_CHECK(a.begin.size() == rank && a.size.size() == rank, c.where(), "begin ", dims_text(a.begin), " and size ",
                 dims_text(a.size), " need one number per dimension of x ", c.in[0].str(), ".");
  for (size_t i = 0; i < rank; ++i) {
    const int64_t n = x[static_cast<int>(i)];
    MARTELLO_CHECK(a.begin[i] >= 0 && a.size[i] >= -1, c.where(), "begin ", dims_text(a.begin), " and size ",
                   dims_text(a.size), " must not be negative (a size may be -1: the rest).");
    MARTELLO_CHECK(n < 0 || (a.begin[i] <= n && a.size[i] <= n - a.begin[i]), c.where(), "begin ", a.begin[i],
                   ", size ", a.size[i], " does not lie inside dimension ", i, " of x ", c.in[0].str(), ".");
  }
  Shape y = sliced_shape(internal::as_strided(a), x);
  for (size_t i = 0; i < rank; ++i)
    if (a.size[i] >= 0) y = y.with(static_cast<int>(i), a.size[i]);
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

void check_strided(const ShapeContext& c, const StridedSliceAttrs& a, int rank) {
  MARTELLO_CHECK(a.begin.size() == a.end.size() && (a.stride.empty() || a.stride.size() == a.begin.size()), c.where(),
                 "begin has ", a.begin.size(), " numbers, end ", a.end.size(), " and stride ", a.stride.size(),
                 ". Give as many of each (or no strides).");
  MARTELLO_CHECK(static_cast<int>(a.begin.size()) <= rank, c.where(), "slices ", a.begin.size(),
                 " dimensions, there are ", rank, ".");
  for (size_t i = 0; i < a.stride.size(); ++i)
    MARTELLO_CHECK(a.stride[i] != 0, c.where(), "stride ", i, " is 0. Use 1 or -1 to take every element.");
}

std::vector<TensorSpec> strided_slice_shape(const ShapeContext& c) {
  const auto& a = c.attrs<StridedSliceAttrs>();
  check_strided(c, a, c.in[0].shape.rank());
  return {{.shape = sliced_shape(a, c.in[0].shape), .dtype = c.in[0].dtype}};
}

std::vector<TensorSpec> strided_slice_grad_shape(const ShapeContext& c) {
  const auto& a = c.attrs<StridedSliceGradAttrs>();
  const Shape& dy = c.in[0].shape;
  Shape dx(internal::asked_sizes(c, 1, a.shape));
  check_strided(c, a.slice, dx.rank());
  MARTELLO_CHECK(dx.rank() == dy.rank(), c.where(), "dy ", dy, " and the shape ", dx, " differ in rank.");
  for (size_t i = 0; i < static_cast<size_t>(dx.rank()); ++i)
    if (dx.symbolic()[i] < 0 && is_whole(a.slice, i)) dx = dx.with(static_cast<int>(i), dy.symbolic()[i]);
  internal::check_same_shape(c, "dy", dy, "the slice", sliced_shape(a.slice, dx));
  return {{.shape = dx, .dtype = c.in[0].dtype}};
}

int64_t checked_row(const ShapeContext& c) {
  const int64_t index = c.attrs<SelectRowAttrs>().index;
  MARTELLO_CHECK(c.in[0].shape.rank() > 0, c.where(), "row ", index, " of x ", c.in[0].str(),
                 ": a scalar has no rows.");
  const int64_t n = c.in[0].shape[0];
  MARTELLO_CHECK(n < 0 || (-n <= index && index < n), c.where(), "index ", index, " is out of range for x ",
                 c.in[0].str(), ", which has ", n, " rows.");
  return index >= 0 || n < 0 ? index : index + n;
}

std::vector<TensorSpec> select_row_shape(const ShapeContext& c) {
  checked_row(c);
  return {{.shape = c.in[0].shape.slice(1, c.in[0].shape.rank()), .dtype = c.in[0].dtype}};
}

internal::KnownElements select_row_value(const ShapeContext& c) {
  if (!c.value(0) || c.in[0].shape.rank() != 1) return std::nullopt;
  return std::vector<int64_t>{(*c.value(0))[static_cast<size_t>(checked_row(c))]};
}

std::vector<TensorSpec> reverse_shape(const ShapeContext& c) {
  for (const int axis : c.attrs<ReverseAttrs>().axes) c.check_axis(0, axis);
  return {c.in[0]};
}

// The shape of x as far as the slice does not tell it.
Extents unsliced_extents(Tensor x, const StridedSliceAttrs& a) {
  for (size_t i = 0; i < static_cast<size_t>(x.rank()); ++i)
    if (x.shape().symbolic()[i] < 0 && !is_whole(a, i)) return shape(x);
  return x.shape();
}

// dx = zeros with dy in the place of the slice
TensorList gradient_of_slice(const GradContext& c, const StridedSliceAttrs& a) {
  return TensorList{strided_slice_grad(c.grad(0), a, unsliced_extents(c.input(0), a))};
}

// With a number for each of four axes.
StridedSliceAttrs strided_with_channels_last(StridedSliceAttrs a) {
  a.stride.resize(a.begin.size(), 1);
  a.begin.resize(4, 0);
  a.end.resize(4, kEnd);
  a.stride.resize(4, 1);
  for (auto* list : {&a.begin, &a.end, &a.stride}) *list = internal::with_channels_last(*list);
  return a;
}

}  // namespace

constinit const OpDef op_slice = {
    .name = "slice",
    .doc = "y[i] = x[begin + i], `size` elements along each axis",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<SliceAttrs>,
    .shape = slice_shape,
    .gradient = [](const GradContext& c) { return gradient_of_slice(c, internal::as_strided(c.attrs<SliceAttrs>())); },
    .cpu = slice_cpu,
    .value = [](const ShapeContext& c) { return sliced_elements(c, internal::as_strided(c.attrs<SliceAttrs>())); },
    .rows_of = [](const ShapeContext& c,
                  size_t) { return same_if(is_whole(internal::as_strided(c.attrs<SliceAttrs>()), 0)); },
    .cost = internal::copy_cost,
    .channels_last =
        [](std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs& attrs) {
          if (in[0].shape.rank() != 4) return std::optional<ChannelsLast>();
          SliceAttrs a = attrs.get<SliceAttrs>();
          for (auto* list : {&a.begin, &a.size}) *list = internal::with_channels_last(*list);
          return std::optional(ChannelsLast{.attrs = Attrs(a), .inputs = {0}, .outputs = {0}});
        },
    .family = "Shapes",
};

constinit const OpDef op_strided_slice = {
    .name = "strided_slice",
    .doc = "y[i] = x[begin + i * stride] before `end` along each axis",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<StridedSliceAttrs>,
    .shape = strided_slice_shape,
    .gradient = [](const GradContext& c) { return gradient_of_slice(c, c.attrs<StridedSliceAttrs>()); },
    .cpu = strided_slice_cpu,
    .value = [](const ShapeContext& c) { return sliced_elements(c, c.attrs<StridedSliceAttrs>()); },
    .rows_of = [](const ShapeContext& c, size_t) { return same_if(is_whole(c.attrs<StridedSliceAttrs>(), 0)); },
    .cost = internal::copy_cost,
    .channels_last =
        [](std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs& attrs) {
          if (in[0].shape.rank() != 4) return std::optional<ChannelsLast>();
          const auto a = strided_with_channels_last(attrs.get<StridedSliceAttrs>());
          return std::optional(ChannelsLast{.attrs = Attrs(a), .inputs = {0}, .outputs = {0}});
        },
    .family = "Shapes",
};

constinit const OpDef op_strided_slice_grad = {
    .name = "strided_slice_grad",
    .doc = "dx = 0 of `shape`, then dx[begin + i * stride] = dy[i]",
    .inputs = {"dy", "shape..."},
    .outputs = {"dx"},
    .attrs = &attrs_type<StridedSliceGradAttrs>,
    .shape = strided_slice_grad_shape,
    // d(dy) = the slice of d(dx)
    .gradient =
        [](const GradContext& c) {
          const auto& a = c.attrs<StridedSliceGradAttrs>().slice;
          TensorList list = strided_slice(c.grad(0), a.begin, a.end, a.stride);
          if (c.inputs.size() > 1) list.push_back(Tensor());
          return list;
        },
    .cpu = strided_slice_grad_cpu,
    .rows_of = [](const ShapeContext& c,
                  size_t input) { return same_if(input == 0 && is_whole(c.attrs<StridedSliceGradAttrs>().slice, 0)); },
    .cost = internal::copy_cost,
    .channels_last =
        [](std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs& attrs) {
          if (in[0].shape.rank() != 4) return std::optional<ChannelsLast>();
          const StridedSliceGradAttrs a{strided_with_channels_last(attrs.get<StridedSliceGradAttrs>().slice),
                                        internal::with_channels_last(out[0].shape)};
          return std::optional(ChannelsLast{.attrs = Attrs(a), .inputs = {0}, .outputs = {0}, .sizes = 1});
        },
    .family = "Shapes",
};

constinit const OpDef op_select_row = {
    .name = "select_row",
    .doc = "y = x[index]",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<SelectRowAttrs>,
    .shape = select_row_shape,
    // dx = zeros with dy in that row
    .gradient =
        [](const GradContext& c) {
          const int64_t index = c.attrs<SelectRowAttrs>().index;
          const StridedSliceAttrs row{{index}, {index == -1 ? kEnd : index + 1}, {}};
          return TensorList{strided_slice_grad(expand_dims(c.grad(0), 0), row, unsliced_extents(c.input(0), row))};
        },
    .cpu = select_row_cpu,
    .value = select_row_value,
    .cost = internal::copy_cost,
    .family = "Shapes",
};

constinit const OpDef op_reverse = {
    .name = "reverse",
    .doc = "y[i] = x[n - 1 - i] along each of `axes`",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<ReverseAttrs>,
    .shape = reverse_shape,
    // dx = dy read backwards
    .gradient = [](const GradContext& c) { return TensorList{reverse(c.grad(0), c.attrs<ReverseAttrs>().axes)}; },
    .cpu = reverse_cpu,
    .value =
        [](const ShapeContext& c) {
          return sliced_elements(c, internal::as_strided(c.attrs<ReverseAttrs>(), c.in[0].shape.rank()));
        },
    .rows_of =
        [](const ShapeContext& c, size_t) {
          return same_if(is_whole(internal::as_strided(c.attrs<ReverseAttrs>(), c.in[0].shape.rank()), 0));
        },
    .cost = internal::copy_cost,
    .family = "Shapes",
};

Tensor slice(Operand x, std::vector<int64_t> begin, std::vector<int64_t> size, Name name) {
  return add_op(op_slice, {x}, SliceAttrs{std::move(begin), std::move(size)}, name);
}
Tensor strided_slice(Operand x, std::vector<int64_t> begin, std::vector<int64_t> end, std::vector<int64_t> stride,
                     Name name) {
  return add_op(op_strided_slice, {x}, StridedSliceAttrs{std::move(begin), std::move(end), std::move(stride)}, name);
}
Tensor strided_slice_grad(Operand dy, StridedSliceAttrs slice, Extents shape, Name name) {
  StridedSliceGradAttrs attrs{std::move(slice), shape.is_static() ? shape.shape() : Shape()};
  return add_op(op_strided_slice_grad, with_extents({dy}, shape, name), std::move(attrs), name);
}
Tensor select_row(Operand x, int64_t index, Name name) {
  return add_op(op_select_row, {x}, SelectRowAttrs{index}, name);
}
Tensor reverse(Operand x, std::vector<int> axes, Name name) {
  return add_op(op_reverse, {x}, ReverseAttrs{std::move(axes)}, name);
}
Tensor Tensor::operator[](Operand i) const {
  const Operand x(*this, i.line());
  if (!i.is_number()) return gather(x, i);
  MARTELLO_CHECK(i.is_integral(), "[select_row] ", i.number(), " is not the number of a row.\n  at ",
                 LineScope::effective(i.line()).str());
  return select_row(x, static_cast<int64_t>(i.number()));
}

}  // namespace martello
