#include <martello/base/error.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/resize.h>
#include <martello/ops/shape.h>
#include <martello/ops/slice.h>

namespace martello {

Kernel resize_cpu(const KernelPlan&);
Kernel resize_grad_cpu(const KernelPlan&);

std::vector<std::string> enum_names(ResizeMethod) { return {"nearest", "bilinear"}; }
std::vector<std::string> enum_names(ResizeGrid) { return {"top_left", "align_corners", "half_pixel"}; }

namespace {

int height_axis(const ResizeAttrs& a) { return a.data_format == DataFormat::nhwc ? 1 : 2; }

std::vector<TensorSpec> resize_shape(const ShapeContext& c) {
  const auto& a = c.attrs<ResizeAttrs>();
  MARTELLO_CHECK(kFloatingDTypes.has(c.in[0].dtype), c.where(), input_name(c, 0), " is ", c.in[0].str(),
                 "; supported are ", kFloatingDTypes, ". Use cast().");
  c.check_rank(0, 4);
  const std::vector<int64_t> size = internal::asked_sizes(c, 1, a.size);
  MARTELLO_CHECK(size.size() == 2, c.where(), "size ", internal::dims_text(size), " must be a height and a width.");
  Shape y = c.in[0].shape;
  for (int i = 0; i < 2; ++i) {
    const int axis = height_axis(a) + i;
    const int64_t asked = size[static_cast<size_t>(i)];
    MARTELLO_CHECK(asked > 0 || (asked < 0 && c.in.size() > 1), c.where(), "size ", internal::dims_text(size),
                   " must be at least 1 x 1.");
    MARTELLO_CHECK(y[axis] != 0, c.where(), input_name(c, 0), " ", c.in[0].str(), " in format ",
                   to_string(a.data_format), " has no pixel in dimension ", axis, " to resize.");
    y = y.with(axis, asked);
  }
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

// Height and width of x.
Extents image_size(Tensor x, const ResizeAttrs& a) {
  const int axis = height_axis(a);
  const Shape size = x.shape().slice(axis, axis + 2);
  return size.is_known() ? Extents(size) : Extents(slice(shape(x), {axis}, {2}));
}

TensorList with_null(Tensor dx, size_t inputs) { return inputs > 1 ? TensorList{dx, Tensor()} : TensorList{dx}; }

Cost resize_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&) {
  const double n = static_cast<double>(in[0].shape.num_elements()),
               m = static_cast<double>(out[0].shape.num_elements());
  return {.flops = 8 * std::max(n, m), .bytes = (n + m) * static_cast<double>(size_of(in[0].dtype))};
}

Tensor add_resize(const OpDef& def, Operand x, const Extents& size, ResizeAttrs attrs, Name name) {
  attrs.size = size.is_static() ? size.shape() : Shape();
  return add_op(def, with_extents({x}, size, name), attrs, name);
}

}  // namespace

constinit const OpDef op_resize = {
    .name = "resize",
    .doc = "y = images of x with another height and width, by the nearest pixel or between two and two",
    .inputs = {"x", "size..."},
    .outputs = {"y"},
    .attrs = &attrs_type<ResizeAttrs>,
    .shape = resize_shape,
    // dx[i] = sum of dy[o] times the part of x[i] in y[o]
    .gradient =
        [](const GradContext& c) {
          const auto& a = c.attrs<ResizeAttrs>();
          return with_null(resize_grad(c.grad(0), image_size(c.input(0), a), a), c.inputs.size());
        },
    .cpu = resize_cpu,
    .rows_of = [](const ShapeContext&, size_t input) { return internal::same_if(input == 0); },
    .cost = resize_cost,
    .channels_last = internal::images_with_channels_last<ResizeAttrs>,
    .family = "Images",
};

constinit const OpDef op_resize_grad = {
    .name = "resize_grad",
    .doc = "dx[i] = sum over o of dy[o] times the part of pixel i in pixel o of resize()",
    .inputs = {"dy", "size..."},
    .outputs = {"dx"},
    .attrs = &attrs_type<ResizeAttrs>,
    .shape = resize_shape,
    // d(dy) = d(dx) resized
    .gradient =
        [](const GradContext& c) {
          const auto& a = c.attrs<ResizeAttrs>();
          return with_null(resize(c.grad(0), image_size(c.input(0), a), a), c.inputs.size());
        },
    .cpu = resize_grad_cpu,
    .rows_of = [](const ShapeContext&, size_t input) { return internal::same_if(input == 0); },
    .cost = resize_cost,
    .channels_last = internal::images_with_channels_last<ResizeAttrs>,
    .family = "Images",
};

Tensor resize(Operand x, Extents size, ResizeAttrs attrs, Name name) {
  return add_resize(op_resize, x, size, attrs, name);
}
Tensor resize_grad(Operand dy, Extents size, ResizeAttrs attrs, Name name) {
  return add_resize(op_resize_grad, dy, size, attrs, name);
}

}  // namespace martello
