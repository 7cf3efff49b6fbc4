#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/like.h>
#include <martello/ops/split.h>

#include <algorithm>

namespace martello {

Kernel split_cpu(const KernelPlan&, int axis);

namespace {

using internal::dim_of;
using internal::dims_text;

std::vector<int64_t> even_sizes(const ShapeContext& c, int axis, int64_t pieces) {
  constexpr int64_t kMostPieces = 65536;
  const int64_t whole = c.in[0].shape[axis];
  MARTELLO_CHECK(pieces > 0 && pieces <= kMostPieces, c.where(), "cannot make ", pieces, " pieces; 1 to ", kMostPieces,
                 " are possible.");
  MARTELLO_CHECK(whole < 0 || whole % pieces == 0, c.where(), "dimension ", axis, " of x ", c.in[0].str(), " is ",
                 whole, ", not a multiple of ", pieces, " pieces. Give the sizes.");
  int64_t piece = whole < 0 ? kUnknown : whole / pieces;
  if (pieces == 1) piece = dim_of(c.in[0].shape, axis);
  return std::vector<int64_t>(static_cast<size_t>(pieces), piece);
}

// One unknown size takes what the others leave.
std::vector<int64_t> given_sizes(const ShapeContext& c, int axis, std::vector<int64_t> sizes) {
  const int64_t whole = c.in[0].shape[axis];
  MARTELLO_CHECK(!sizes.empty(), c.where(), "makes 0 pieces. Give their number or their sizes.");
  const auto open = std::count_if(sizes.begin(), sizes.end(), [](int64_t s) { return s < 0; });
  MARTELLO_CHECK(c.in.size() > 1 || open <= 1, c.where(), "sizes ", dims_text(sizes), " leave ", open,
                 " of them open; one can take the rest.");
  int64_t sum = 0;
  for (const int64_t s : sizes) sum = checked_add(sum, std::max<int64_t>(s, 0));
  if (whole < 0) return sizes;
  MARTELLO_CHECK(open ? sum <= whole : sum == whole, c.where(), "sizes ", dims_text(sizes), " add up to ", sum,
                 " but dimension ", axis, " of x ", c.in[0].str(), " is ", whole, ".");
  if (open == 1) *std::find_if(sizes.begin(), sizes.end(), [](int64_t s) { return s < 0; }) = whole - sum;
  return sizes;
}

std::vector<TensorSpec> split_shape(const ShapeContext& c) {
  const auto& a = c.attrs<SplitAttrs>();
  const int axis = c.check_axis(0, a.axis);
  MARTELLO_CHECK(a.pieces == 0 || c.in.size() == 1, c.where(), "makes ", a.pieces, " pieces of x but was given ",
                 c.in.size(), " inputs.");
  const auto sizes =
      a.pieces != 0 ? even_sizes(c, axis, a.pieces) : given_sizes(c, axis, internal::asked_sizes(c, 1, a.sizes));
  std::vector<TensorSpec> out;
  for (const int64_t s : sizes) out.push_back({.shape = c.in[0].shape.with(axis, s), .dtype = c.in[0].dtype});
  return out;
}

// dx = dys side by side, with zeros for pieces that nothing depends on
TensorList split_gradient(const GradContext& c) {
  TensorList pieces;
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    const Tensor y = c.output(i), dy = c.grad(i);
    pieces.push_back(dy.is_null() ? broadcast_like(constant(HostTensor(Shape(), y.dtype())), y) : dy);
  }
  TensorList dx = concat(pieces, c.attrs<SplitAttrs>().axis);
  if (c.inputs.size() > 1) dx.push_back(Tensor());
  return dx;
}

std::optional<ChannelsLast> channels_last(std::span<const TensorSpec> in, std::span<const TensorSpec> out,
                                          const Attrs& attrs) {
  if (in[0].shape.rank() != 4) return std::nullopt;
  SplitAttrs a = attrs.get<SplitAttrs>();
  const int axis = normalized_axis(a.axis, 4);
  a.axis = internal::axis_with_channels_last(axis);
  a.pieces = 0;
  std::vector<int64_t> sizes;
  for (const TensorSpec& piece : out) sizes.push_back(piece.shape[axis]);
  a.sizes = Shape(sizes);
  ChannelsLast last{.attrs = Attrs(a), .inputs = {0}, .sizes = 1};
  for (size_t i = 0; i < out.size(); ++i) last.outputs.push_back(static_cast<int>(i));
  return last;
}

}  // namespace

constinit const OpDef op_split = {
    .name = "split",
    .doc = "ys = x cut along `axis` into equal `pieces`, or into pieces of `sizes`",
    .inputs = {"x", "sizes..."},
    .outputs = {"ys..."},
    .attrs = &attrs_type<SplitAttrs>,
    .shape = split_shape,
    .gradient = split_gradient,
    .cpu =
        [](const KernelPlan& plan) {
          return split_cpu(plan, normalized_axis(plan.attrs<SplitAttrs>().axis, plan.in[0].shape.rank()));
        },
    .rows_of =
        [](const ShapeContext& c, size_t input) {
          return internal::same_if(input == 0 && c.check_axis(0, c.attrs<SplitAttrs>().axis) > 0);
        },
    .cost = internal::copy_cost,
    .channels_last = channels_last,
    .family = "Shapes",
};

TensorList split(Operand x, Extents sizes, int axis, Name name) {
  const SplitAttrs attrs{.sizes = sizes.is_static() ? sizes.shape() : Shape(), .axis = axis};
  return outputs_of(add_operation(op_split, with_extents({x}, sizes, name), Attrs(attrs), name));
}

TensorList split_evenly(Operand x, int64_t pieces, int axis, Name name) {
  return outputs_of(add_operation(op_split, {x}, Attrs(SplitAttrs{.pieces = pieces, .axis = axis}), name));
}

TensorList unstack(Operand x, int axis, Name name) {
  LineScope line(x.line());
  const Tensor t = x.tensor();
  const std::string line_text = LineScope::effective(x.line()).str();
  MARTELLO_CHECK(!t.is_null(), "[unstack '", name.text(), "'] takes a tensor, not a number.\n  at ", line_text);
  const int a = normalized_axis(axis, t.rank());
  MARTELLO_CHECK(a >= 0 && t.dim(a) >= 0, "[unstack '", name.text(), "'] dimension ", axis, " of x ", t.shape(),
                 " must exist and be known: it is the number of results.\n  at ", line_text);
  TensorList slices;
  // Element by element, so that what is known of small integer vectors stays known.
  const bool is_vector_of_sizes = t.rank() == 1 && is_integer(t.dtype());
  for (int64_t i = 0; is_vector_of_sizes && i < t.dim(0); ++i) slices.push_back(t[i]);
  if (is_vector_of_sizes || t.dim(a) == 0) return slices;
  for (const Tensor& piece : split_evenly(x, t.dim(a), a, name)) slices.push_back(squeeze(piece, {a}));
  return slices;
}

}  // namespace martello
