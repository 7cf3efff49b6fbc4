#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/pixel_shuffle.h>

namespace martello {

Kernel pixel_shuffle_cpu(const KernelPlan&);
Kernel pixel_unshuffle_cpu(const KernelPlan&);

std::vector<std::string> enum_names(PixelOrder) { return {"channel_major", "block_major"}; }

namespace {

struct Axes3 {
  int channel, height, width;
};
Axes3 axes_of(DataFormat format) { return format == DataFormat::nhwc ? Axes3{3, 1, 2} : Axes3{1, 2, 3}; }

int64_t multiplied(int64_t size, int64_t by) { return by == 1 ? size : size < 0 ? kUnknown : checked_mul(size, by); }

int64_t divided(const ShapeContext& c, int axis, int64_t by) {
  const int64_t size = internal::dim_of(c.in[0].shape, axis);
  MARTELLO_CHECK(size < 0 || size % by == 0, c.where(), "dimension ", axis, " of x ", c.in[0].str(), " in format ",
                 to_string(c.attrs<PixelShuffleAttrs>().data_format), " is ", size, ", not a multiple of ", by,
                 ". Change the block or the size.");
  return by == 1 ? size : size < 0 ? kUnknown : size / by;
}

int64_t check_image(const ShapeContext& c) {
  c.check_rank(0, 4);
  const int64_t block = c.attrs<PixelShuffleAttrs>().block;
  MARTELLO_CHECK(block > 0, c.where(), "block ", block, " must be 1 or more.");
  return block;
}

std::vector<TensorSpec> shuffle_shape(const ShapeContext& c) {
  const int64_t block = check_image(c);
  const Axes3 at = axes_of(c.attrs<PixelShuffleAttrs>().data_format);
  Shape y = c.in[0].shape.with(at.channel, divided(c, at.channel, checked_mul(block, block)));
  for (const int axis : {at.height, at.width}) y = y.with(axis, multiplied(internal::dim_of(y, axis), block));
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

std::vector<TensorSpec> unshuffle_shape(const ShapeContext& c) {
  const int64_t block = check_image(c);
  const Axes3 at = axes_of(c.attrs<PixelShuffleAttrs>().data_format);
  Shape y = c.in[0].shape;
  for (const int axis : {at.height, at.width}) y = y.with(axis, divided(c, axis, block));
  y = y.with(at.channel, multiplied(internal::dim_of(y, at.channel), checked_mul(block, block)));
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

}  // namespace

constinit const OpDef op_pixel_shuffle = {
    .name = "pixel_shuffle",
    .doc = "y[n, h * block + i, w * block + j, c] = x[n, h, w, channel of (c, i, j)]",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<PixelShuffleAttrs>,
    .shape = shuffle_shape,
    // dx = dy put back
    .gradient =
        [](const GradContext& c) { return TensorList{pixel_unshuffle(c.grad(0), c.attrs<PixelShuffleAttrs>())}; },
    .cpu = pixel_shuffle_cpu,
    .rows = Rows::same,
    .cost = internal::copy_cost,
    .channels_last = internal::images_with_channels_last<PixelShuffleAttrs>,
    .family = "Images",
};

constinit const OpDef op_pixel_unshuffle = {
    .name = "pixel_unshuffle",
    .doc = "y[n, h, w, channel of (c, i, j)] = x[n, h * block + i, w * block + j, c]",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<PixelShuffleAttrs>,
    .shape = unshuffle_shape,
    // dx = dy put back
    .gradient = [](const GradContext& c) { return TensorList{pixel_shuffle(c.grad(0), c.attrs<PixelShuffleAttrs>())}; },
    .cpu = pixel_unshuffle_cpu,
    .rows = Rows::same,
    .cost = internal::copy_cost,
    .channels_last = internal::images_with_channels_last<PixelShuffleAttrs>,
    .family = "Images",
};

Tensor pixel_shuffle(Operand x, PixelShuffleAttrs attrs, Name name) {
  return add_op(op_pixel_shuffle, {x}, attrs, name);
}
Tensor pixel_unshuffle(Operand x, PixelShuffleAttrs attrs, Name name) {
  return add_op(op_pixel_unshuffle, {x}, attrs, name);
}
Tensor depth_to_space(Operand x, int64_t block, DataFormat data_format, Name name) {
  return pixel_shuffle(x, {block, PixelOrder::block_major, data_format}, name);
}
Tensor space_to_depth(Operand x, int64_t block, DataFormat data_format, Name name) {
  return pixel_unshuffle(x, {block, PixelOrder::block_major, data_format}, name);
}

}  // namespace martello
