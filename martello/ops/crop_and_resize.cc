#include <martello/base/error.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/crop_and_resize.h>
#include <martello/ops/dims.h>
#include <martello/ops/scatter.h>

namespace martello {

Kernel crop_and_resize_cpu(const KernelPlan&);
Kernel crop_and_resize_grad_cpu(const KernelPlan&);

namespace {

using internal::dim_of;

// Images, or crops, and boxes; the number of boxes.
int64_t check_crops(const ShapeContext& c) {
  const auto& a = c.attrs<CropAndResizeAttrs>();
  MARTELLO_CHECK(kFloatingDTypes.has(c.in[0].dtype), c.where(), input_name(c, 0), " is ", c.in[0].str(),
                 "; supported are ", kFloatingDTypes, ". Use cast().");
  c.check_rank(0, 4);
  c.check_same_dtype(1, 0);
  c.check_rank(1, 2);
  c.check_rank(2, 1);
  internal::check_index_dtype(c, 2);
  const Shape &boxes = c.in[1].shape, &box_image = c.in[2].shape;
  MARTELLO_CHECK(internal::may_be_equal(boxes[1], 4), c.where(), "boxes ", c.in[1].str(),
                 " need four numbers each: y1, x1, y2, x2.");
  MARTELLO_CHECK(internal::may_be_equal(boxes[0], box_image[0]), c.where(), "boxes ", c.in[1].str(), " and box_image ",
                 c.in[2].str(), " differ in number.");
  MARTELLO_CHECK(a.height > 0 && a.width > 0, c.where(), "a crop of ", a.height, " x ", a.width,
                 " must be at least 1 x 1.");
  return internal::more_known(dim_of(boxes, 0), dim_of(box_image, 0));
}

Shape crop_shape(const CropAndResizeAttrs& a, int64_t boxes, int64_t channels) {
  if (a.data_format == DataFormat::nhwc) return {boxes, a.height, a.width, channels};
  return {boxes, channels, a.height, a.width};
}

std::vector<TensorSpec> crop_and_resize_shape(const ShapeContext& c) {
  const auto& a = c.attrs<CropAndResizeAttrs>();
  const int64_t boxes = check_crops(c);
  const int64_t channels = dim_of(c.in[0].shape, channel_axis(a.data_format, 4));
  return {{.shape = crop_shape(a, boxes, channels), .dtype = c.in[0].dtype}};
}

std::vector<TensorSpec> crop_and_resize_grad_shape(const ShapeContext& c) {
  const auto& a = c.attrs<CropAndResizeAttrs>();
  const int64_t boxes = check_crops(c);
  const Shape dx(internal::asked_sizes(c, 3, a.shape));
  MARTELLO_CHECK(dx.rank() == 4 && (c.in.size() > 3 || dx.is_known()), c.where(), "shape ", dx,
                 " must be the four known sizes of the images.");
  const int64_t channels = dim_of(dx, channel_axis(a.data_format, 4));
  internal::check_same_shape(c, "dy", c.in[0].shape, "crops", crop_shape(a, boxes, channels));
  return {{.shape = dx, .dtype = c.in[0].dtype}};
}

Cost crop_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&) {
  const double n = static_cast<double>(in[0].shape.num_elements()),
               m = static_cast<double>(out[0].shape.num_elements());
  return {.flops = 8 * std::max(n, m), .bytes = (n + m) * static_cast<double>(size_of(in[0].dtype))};
}

}  // namespace

constinit const OpDef op_crop_and_resize = {
    .name = "crop_and_resize",
    .doc = "y[i] = the part boxes[i] of images[box_image[i]], resized bilinearly; 0 outside the image",
    .inputs = {"images", "boxes", "box_image"},
    .outputs = {"y"},
    .attrs = &attrs_type<CropAndResizeAttrs>,
    .shape = crop_and_resize_shape,
    // dimages = dy added where it came from
    .gradient =
        [](const GradContext& c) {
          return TensorList{crop_and_resize_grad(c.grad(0), c.input(1), c.input(2), c.attrs<CropAndResizeAttrs>(),
                                                 shape_for(c.input(0))),
                            Tensor(), Tensor()};
        },
    .cpu = crop_and_resize_cpu,
    .rows_of = [](const ShapeContext&, size_t input) { return input == 0 ? Rows::reduced : Rows::same; },
    .cost = crop_cost,
    .family = "Images",
};

constinit const OpDef op_crop_and_resize_grad = {
    .name = "crop_and_resize_grad",
    .doc = "dimages = dy of each crop added to zeros of `shape` at the places it came from",
    .inputs = {"dy", "boxes", "box_image", "shape..."},
    .outputs = {"dimages"},
    .attrs = &attrs_type<CropAndResizeAttrs>,
    .shape = crop_and_resize_grad_shape,
    // d(dy) = d(dimages) cropped
    .gradient =
        [](const GradContext& c) {
          std::vector<Tensor> list(c.inputs.size());
          CropAndResizeAttrs a = c.attrs<CropAndResizeAttrs>();
          a.shape = Shape();
          list[0] = crop_and_resize(c.grad(0), c.input(1), c.input(2), a);
          return TensorList(list);
        },
    .cpu = crop_and_resize_grad_cpu,
    .rows_of = [](const ShapeContext&, size_t input) { return input < 3 ? Rows::reduced : Rows::refused; },
    .cost = crop_cost,
    .family = "Images",
};

Tensor crop_and_resize(Operand images, Operand boxes, Operand box_image, CropAndResizeAttrs attrs, Name name) {
  return add_op(op_crop_and_resize, {images, boxes, box_image}, attrs, name);
}
Tensor crop_and_resize_grad(Operand dy, Operand boxes, Operand box_image, CropAndResizeAttrs attrs, Extents shape,
                            Name name) {
  attrs.shape = shape.is_static() ? shape.shape() : Shape();
  return add_op(op_crop_and_resize_grad, with_extents({dy, boxes, box_image}, shape, name), attrs, name);
}

}  // namespace martello
