#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/data_format.h>
#include <martello/ops/extents.h>

namespace martello {

enum class ResizeMethod { nearest, bilinear };
std::vector<std::string> enum_names(ResizeMethod);

// Which place of the input a place of the output shows, along one axis.
enum class ResizeGrid {
  top_left,       // out * in_size / out_size; `nearest` takes the pixel before it
  align_corners,  // out * (in_size - 1) / (out_size - 1); `nearest` rounds
  half_pixel,     // (out + 1/2) * in_size / out_size - 1/2; `nearest` takes the pixel it falls into
};
std::vector<std::string> enum_names(ResizeGrid);

struct ResizeAttrs {
  ResizeMethod method = ResizeMethod::bilinear;
  ResizeGrid grid = ResizeGrid::top_left;
  DataFormat data_format = DataFormat::nhwc;
  Shape size = {};  // set by resize(); not looked at when it comes as an input
  bool operator==(const ResizeAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("method", self.method);
    f("grid", self.grid);
    f("data_format", self.data_format);
    f("size", self.size);
  }
};
// A batch of images with another height and width: resize(x, {64, 64}). f32, f64.
Tensor resize(Operand x, Extents size, ResizeAttrs attrs = {}, Name name = "resize");
// dy, the gradient of a resized batch, summed back to images of `size`.
Tensor resize_grad(Operand dy, Extents size, ResizeAttrs attrs = {}, Name name = "resize_grad");

extern const OpDef op_resize, op_resize_grad;

}  // namespace martello
