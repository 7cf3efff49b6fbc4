#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/data_format.h>
#include <martello/ops/extents.h>

namespace martello {

struct CropAndResizeAttrs {
  int64_t height = 1, width = 1;  // of a crop
  DataFormat data_format = DataFormat::nhwc;
  Shape shape = {};  // of the images, for crop_and_resize_grad(); not looked at when it comes as an input
  bool operator==(const CropAndResizeAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("height", self.height);
    f("width", self.width);
    f("data_format", self.data_format);
    f("shape", self.shape);
  }
};
// Crop i is the part boxes[i] = (y1, x1, y2, x2) of image box_image[i], resized bilinearly with its corners on the
// corners of the box. Coordinates count in parts of (height - 1, width - 1) of the image; a place outside it is 0. The
// gradient is that of the images; boxes and box_image are taken as constants.
Tensor crop_and_resize(Operand images, Operand boxes, Operand box_image, CropAndResizeAttrs attrs,
                       Name name = "crop_and_resize");
// Gradients of crops, added to zeros of `shape` at the places they came from, box after box.
Tensor crop_and_resize_grad(Operand dy, Operand boxes, Operand box_image, CropAndResizeAttrs attrs, Extents shape,
                            Name name = "crop_and_resize_grad");

extern const OpDef op_crop_and_resize, op_crop_and_resize_grad;

}  // namespace martello
