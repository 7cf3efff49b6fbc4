#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/pad.h>
#include <martello/ops/slice.h>

#include <algorithm>
#include <cmath>

namespace martello {

Kernel pad_cpu(const KernelPlan&);
Kernel pad_grad_cpu(const KernelPlan&);

std::vector<std::string> enum_names(PadMode) { return {"constant", "reflect", "symmetric"}; }
std::string_view to_string(PadMode mode) {
  constexpr std::string_view names[] = {"constant", "reflect", "symmetric"};
  return names[static_cast<size_t>(mode)];
}

namespace {

using internal::dims_text;

void check_pad(const ShapeContext& c, const PadAttrs& a) {
  const size_t rank = static_cast<size_t>(c.in[0].shape.rank());
  MARTELLO_CHECK(a.before.size() == rank && a.after.size() == rank, c.where(), "before ", dims_text(a.before),
                 " and after ", dims_text(a.after), " need one number per dimension of ", c.in[0].str(), ".");
  for (size_t i = 0; i < rank; ++i)
    MARTELLO_CHECK(a.before[i] >= 0 && a.after[i] >= 0, c.where(), "before ", dims_text(a.before), " and after ",
                   dims_text(a.after), " of ", c.in[0].str(), " must not be negative. Use slice() to cut.");
  const bool fits = is_floating(c.in[0].dtype) || a.value == std::floor(a.value);
  MARTELLO_CHECK(fits, c.where(), "value ", a.value, " is not a ", c.in[0].dtype, ".");
}

// A mirror shows nothing that lies behind it.
void check_mirror(const ShapeContext& c, const PadAttrs& a, int axis, int64_t size) {
  if (a.mode == PadMode::constant || size < 0) return;
  const size_t i = static_cast<size_t>(axis);
  const int64_t most = a.mode == PadMode::reflect ? size - 1 : size;
  const bool is_padded = a.before[i] > 0 || a.after[i] > 0;
  MARTELLO_CHECK(!is_padded || (a.before[i] <= most && a.after[i] <= most), c.where(), "a ", a.mode, " pad of ",
                 a.before[i], " and ", a.after[i], " is too large for dimension ", axis, " of ", c.in[0].str(),
                 ": at most ", most, ".");
}

std::vector<TensorSpec> pad_shape(const ShapeContext& c) {
  const auto& a = c.attrs<PadAttrs>();
  check_pad(c, a);
  Shape y;
  for (int i = 0; i < c.in[0].shape.rank(); ++i) {
    const int64_t size = internal::dim_of(c.in[0].shape, i);
    const int64_t added = checked_add(a.before[static_cast<size_t>(i)], a.after[static_cast<size_t>(i)]);
    check_mirror(c, a, i, size);
    y.push_back(added == 0 ? size : size < 0 ? kUnknown : checked_add(size, added));
  }
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

std::vector<TensorSpec> pad_grad_shape(const ShapeContext& c) {
  const auto& a = c.attrs<PadAttrs>();
  check_pad(c, a);
  MARTELLO_CHECK(is_floating(c.in[0].dtype), c.where(), "dy is ", c.in[0].str(),
                 "; supported are f32, f64, bf16, f16.");
  Shape x;
  for (int i = 0; i < c.in[0].shape.rank(); ++i) {
    const int64_t size = internal::dim_of(c.in[0].shape, i);
    const int64_t added = checked_add(a.before[static_cast<size_t>(i)], a.after[static_cast<size_t>(i)]);
    MARTELLO_CHECK(size < 0 || size >= added, c.where(), "dimension ", i, " of dy ", c.in[0].str(),
                   " is smaller than its padding of ", added, ".");
    x.push_back(added == 0 ? size : size < 0 ? kUnknown : size - added);
    check_mirror(c, a, i, x[i]);
  }
  return {{.shape = x, .dtype = c.in[0].dtype}};
}

Tensor without_padding(Tensor y, const PadAttrs& a) {
  std::vector<int64_t> end;
  for (const int64_t n : a.after) end.push_back(n == 0 ? kEnd : -n);
  return strided_slice(y, a.before, end);
}

Rows pad_rows(const ShapeContext& c, size_t) {
  const auto& a = c.attrs<PadAttrs>();
  return internal::same_if(a.before.at(0) == 0 && a.after.at(0) == 0);
}

std::optional<ChannelsLast> channels_last(std::span<const TensorSpec> in, std::span<const TensorSpec>,
                                          const Attrs& attrs) {
  if (in[0].shape.rank() != 4) return std::nullopt;
  PadAttrs a = attrs.get<PadAttrs>();
  a.before = internal::with_channels_last(a.before);
  a.after = internal::with_channels_last(a.after);
  return ChannelsLast{.attrs = Attrs(a), .inputs = {0}, .outputs = {0}};
}

}  // namespace

constinit const OpDef op_pad = {
    .name = "pad",
    .doc = "y = x with before[i] and after[i] more elements at the ends of axis i: `value`, or x mirrored",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<PadAttrs>,
    .shape = pad_shape,
    // constant: dx = dy without the padding; mirrored: padding is added to the elements it showed
    .gradient =
        [](const GradContext& c) {
          const auto& a = c.attrs<PadAttrs>();
          return TensorList{a.mode == PadMode::constant ? without_padding(c.grad(0), a) : pad_grad(c.grad(0), a)};
        },
    .cpu = pad_cpu,
    .rows_of = pad_rows,
    .cost = internal::copy_cost,
    .channels_last = channels_last,
    .family = "Shapes",
};

constinit const OpDef op_pad_grad = {
    .name = "pad_grad",
    .doc = "dx[i] = sum of dy over the places where pad() put x[i]",
    .inputs = {"dy"},
    .outputs = {"dx"},
    .attrs = &attrs_type<PadAttrs>,
    .shape = pad_grad_shape,
    // d(dy) = d(dx) padded the same way, a constant pad with zeros
    .gradient =
        [](const GradContext& c) {
          PadAttrs a = c.attrs<PadAttrs>();
          a.value = 0;
          return TensorList{pad(c.grad(0), a)};
        },
    .cpu = pad_grad_cpu,
    .rows_of = pad_rows,
    .cost = internal::copy_cost,
    .channels_last = channels_last,
    .family = "Shapes",
};

Tensor pad(Operand x, PadAttrs attrs, Name name) { return add_op(op_pad, {x}, std::move(attrs), name); }
Tensor pad_grad(Operand dy, PadAttrs attrs, Name name) { return add_op(op_pad_grad, {dy}, std::move(attrs), name); }

Tensor pad_channels(Operand x, int64_t before, int64_t after, DataFormat data_format, Name name) {
  const int rank = x.is_number() ? 0 : x.tensor().rank(), axis = channel_axis(data_format, rank);
  MARTELLO_CHECK(rank > axis && axis >= 0, "[pad '", name.text(), "'] pad_channels() of a tensor with ", rank,
                 " dimensions: format ", to_string(data_format), " has channels in dimension ", std::max(axis, 0),
                 ".\n  at ", LineScope::effective(x.line()).str());
  const std::vector<int64_t> zeros(static_cast<size_t>(rank), 0);
  PadAttrs attrs{zeros, zeros, PadMode::constant, 0};
  attrs.before[static_cast<size_t>(axis)] = before;
  attrs.after[static_cast<size_t>(axis)] = after;
  return pad(x, std::move(attrs), name);
}

}  // namespace martello
