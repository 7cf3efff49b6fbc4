#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/extents.h>
#include <martello/ops/internal/channels_last.h>
#include <martello/ops/internal/pool_shape.h>
#include <martello/ops/shape.h>

#include <limits>

namespace martello {

Kernel max_pool_cpu(const KernelPlan&);
Kernel max_pool_take_cpu(const KernelPlan&);
Kernel max_pool_grad_cpu(const KernelPlan&);
Kernel avg_pool_cpu(const KernelPlan&);
Kernel avg_pool_grad_cpu(const KernelPlan&);

namespace internal {

PoolAxes pool_axes(const std::string& where, const PoolAttrs& a, int64_t height, int64_t width) {
  MARTELLO_CHECK(a.size.h >= 1 && a.size.w >= 1, where, "size is ", a.size, "; both numbers must be at least 1.");
  const int64_t cells = int64_t{a.size.h} * a.size.w;
  MARTELLO_CHECK(
      cells <= std::numeric_limits<int32_t>::max(), where, "a window of ", a.size, " has ", cells,
      " cells, more than an index can count (2^31 - 1). Use reduce_max() or reduce_mean() over whole images.");
  for (int axis = 0; axis < 2; ++axis)
    MARTELLO_CHECK(a.padding.before(axis) < a.size[axis] && a.padding.after(axis) < a.size[axis], where, "padding ",
                   a.padding, " (top, bottom, left, right) must be smaller than the size ", a.size,
                   ": a window would see nothing else.");
  MARTELLO_CHECK(height != 0 && width != 0, where, "an image of height ", height, " and width ", width,
                 " has no pixels: windows would see padding only. Give at least one.");
  const Size2 stride(a.stride.h == 0 ? a.size.h : a.stride.h, a.stride.w == 0 ? a.size.w : a.stride.w);
  return {window_axis(where, 0, height, a.size.h, stride, 1, a.padding),
          window_axis(where, 1, width, a.size.w, stride, 1, a.padding)};
}

}  // namespace internal

namespace {

using internal::dim_of;
using internal::height_axis;

DType index_dtype(const PoolAttrs& a) { return int64_t{a.size.h} * a.size.w <= 256 ? u8 : i32; }

void check_images(const ShapeContext& c, size_t i) {
  MARTELLO_CHECK(c.in[i].shape.rank() == 4, c.where(), input_name(c, i), " ", c.in[i].shape,
                 " must be a batch of images, rank 4.");
  MARTELLO_CHECK(kFloatingDTypes.has(c.in[i].dtype), c.where(), input_name(c, i), " is ", c.in[i].str(),
                 "; supported are ", kFloatingDTypes.str(), ".");
}

// The shape of the outputs for images x.
Shape pooled_shape(const ShapeContext& c, const PoolAttrs& a, const Shape& x) {
  const int at = height_axis(a.data_format);
  const auto axes = internal::pool_axes(c.where(), a, dim_of(x, at), dim_of(x, at + 1));
  return x.with(at, axes.h.out).with(at + 1, axes.w.out);
}

std::vector<TensorSpec> max_pool_shape(const ShapeContext& c) {
  const auto& a = c.attrs<PoolAttrs>();
  check_images(c, 0);
  const Shape y = pooled_shape(c, a, c.in[0].shape);
  return {{.shape = y, .dtype = c.in[0].dtype}, {.shape = y, .dtype = index_dtype(a)}};
}

std::vector<TensorSpec> max_pool_take_shape(const ShapeContext& c) {
  const auto& a = c.attrs<PoolAttrs>();
  check_images(c, 0);
  c.check_dtype(1, index_dtype(a));
  const Shape y = pooled_shape(c, a, c.in[0].shape);
  internal::check_same_shape(c, "index", c.in[1].shape, "the windows", y);
  return {{.shape = internal::more_known(y, c.in[1].shape), .dtype = c.in[0].dtype}};
}

// dx like dy, with the sizes of the image, which come as input `image` or as an attribute.
std::vector<TensorSpec> image_shape(const ShapeContext& c, size_t dy, size_t image) {
  const auto& a = c.attrs<PoolGradAttrs>();
  check_images(c, dy);
  const auto sizes = internal::asked_sizes(c, image, a.image);
  MARTELLO_CHECK(sizes.size() == 2, c.where(), "image ", internal::dims_text(sizes), " must be a height and a width.");
  MARTELLO_CHECK(sizes[0] != 0 && sizes[1] != 0, c.where(), "image ", internal::dims_text(sizes), " has no pixels.");
  const int at = height_axis(a.pool.data_format);
  const Shape dx = c.in[dy].shape.with(at, sizes[0]).with(at + 1, sizes[1]);
  internal::check_same_shape(c, "dy", c.in[dy].shape, "the windows", pooled_shape(c, a.pool, dx));
  return {{.shape = dx, .dtype = c.in[dy].dtype}};
}

std::vector<TensorSpec> max_pool_grad_shape(const ShapeContext& c) {
  c.check_dtype(0, index_dtype(c.attrs<PoolGradAttrs>().pool));
  auto dx = image_shape(c, 1, 2);
  internal::check_same_shape(c, "index", c.in[0].shape, "dy", c.in[1].shape);
  return dx;
}

Tensor add_grad(const OpDef& def, std::vector<Operand> in, Tensor x, const PoolAttrs& a, Name name) {
  const int at = height_axis(a.data_format);
  const Shape& s = x.shape();
  const bool is_known = dim_of(s, at) >= 0 && dim_of(s, at + 1) >= 0;
  const Extents image = is_known ? Extents(s.slice(at, at + 2)) : Extents(shape(x)[at], shape(x)[at + 1]);
  return add_op(def, with_extents(std::move(in), image, name),
                PoolGradAttrs{a, is_known ? s.slice(at, at + 2) : Shape()}, name);
}

TensorList max_pool_gradient(const GradContext& c) {
  if (c.grad(0).is_null()) return {Tensor()};
  return add_grad(op_max_pool_grad, {c.output(1), c.grad(0)}, c.input(0), c.attrs<PoolAttrs>(), "max_pool_grad");
}
TensorList max_pool_take_gradient(const GradContext& c) {
  return {add_grad(op_max_pool_grad, {c.input(1), c.grad(0)}, c.input(0), c.attrs<PoolAttrs>(), "max_pool_grad"),
          Tensor()};
}
// The adjoint of putting dy in its places is to take from them.
TensorList max_pool_grad_gradient(const GradContext& c) {
  TensorList d = {Tensor(),
                  add_op(op_max_pool_take, {c.grad(0), c.input(0)}, c.attrs<PoolGradAttrs>().pool, "max_pool_take")};
  if (c.inputs.size() > 2) d.push_back(Tensor());
  return d;
}
TensorList avg_pool_gradient(const GradContext& c) {
  return add_grad(op_avg_pool_grad, {c.grad(0)}, c.input(0), c.attrs<PoolAttrs>(), "avg_pool_grad");
}
TensorList avg_pool_grad_gradient(const GradContext& c) {
  TensorList d = {avg_pool(c.grad(0), c.attrs<PoolGradAttrs>().pool)};
  if (c.inputs.size() > 1) d.push_back(Tensor());
  return d;
}

// Of the two gradients.
std::optional<ChannelsLast> gradient_with_channels_last(std::span<const TensorSpec> in, const Attrs& attrs,
                                                        std::vector<int> images) {
  PoolGradAttrs a = attrs.get<PoolGradAttrs>();
  if (a.pool.data_format == DataFormat::nhwc || in[0].shape.rank() != 4) return std::nullopt;
  a.pool.data_format = DataFormat::nhwc;
  return ChannelsLast{.attrs = Attrs(a), .inputs = std::move(images), .outputs = {0}};
}

Cost pool_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs& attrs) {
  Cost cost = elementwise_cost(in, out, attrs);
  cost.flops = 9 * cost.bytes / static_cast<double>(size_of(out[0].dtype));
  return cost;
}

}  // namespace

constinit const OpDef op_max_pool = {
    .name = "max_pool",
    .doc = "y = the largest element of each window, channel by channel; index = its place in the window",
    .inputs = {"x"},
    .outputs = {"y", "index"},
    .attrs = &attrs_type<PoolAttrs>,
    .shape = max_pool_shape,
    .gradient = max_pool_gradient,
    .cpu = max_pool_cpu,
    .rows = Rows::same,
    .cost = pool_cost,
    .channels_last =
        [](std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs& attrs) {
          auto last = internal::images_with_channels_last<PoolAttrs>(in, out, attrs);
          if (last) last->outputs = {0, 1};
          return last;
        },
    .family = "Convolution and pooling",
};

constinit const OpDef op_max_pool_take = {
    .name = "max_pool_take",
    .doc = "y = the element of each window that `index` of a max_pool names",
    .inputs = {"x", "index"},
    .outputs = {"y"},
    .attrs = &attrs_type<PoolAttrs>,
    .shape = max_pool_take_shape,
    .gradient = max_pool_take_gradient,
    .cpu = max_pool_take_cpu,
    .rows = Rows::same,
    .cost = pool_cost,
    .channels_last = internal::gradients_with_channels_last<PoolAttrs, 1>,
    .family = "Convolution and pooling",
};

constinit const OpDef op_max_pool_grad = {
    .name = "max_pool_grad",
    .doc = "dx = sum of dy over the windows whose largest element x was",
    .inputs = {"index", "dy", "image..."},
    .outputs = {"dx"},
    .attrs = &attrs_type<PoolGradAttrs>,
    .shape = max_pool_grad_shape,
    .gradient = max_pool_grad_gradient,
    .cpu = max_pool_grad_cpu,
    .rows_of = [](const ShapeContext&, size_t input) { return internal::same_if(input < 2); },
    .cost = pool_cost,
    .channels_last =
        [](std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs& attrs) {
          return gradient_with_channels_last(in, attrs, {0, 1});
        },
    .family = "Convolution and pooling",
};

constinit const OpDef op_avg_pool = {
    .name = "avg_pool",
    .doc = "y = the mean of each window, channel by channel; padded cells are not counted",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<PoolAttrs>,
    .shape =
        [](const ShapeContext& c) {
          check_images(c, 0);
          return std::vector<TensorSpec>{
              {.shape = pooled_shape(c, c.attrs<PoolAttrs>(), c.in[0].shape), .dtype = c.in[0].dtype}};
        },
    .gradient = avg_pool_gradient,
    .cpu = avg_pool_cpu,
    .rows = Rows::same,
    .cost = pool_cost,
    .channels_last = internal::images_with_channels_last<PoolAttrs>,
    .family = "Convolution and pooling",
};

constinit const OpDef op_avg_pool_grad = {
    .name = "avg_pool_grad",
    .doc = "dx = sum of dy / cells over the windows that cover x",
    .inputs = {"dy", "image..."},
    .outputs = {"dx"},
    .attrs = &attrs_type<PoolGradAttrs>,
    .shape = [](const ShapeContext& c) { return image_shape(c, 0, 1); },
    .gradient = avg_pool_grad_gradient,
    .cpu = avg_pool_grad_cpu,
    .rows_of = [](const ShapeContext&, size_t input) { return internal::same_if(input < 1); },
    .cost = pool_cost,
    .channels_last = [](std::span<const TensorSpec> in, std::span<const TensorSpec>,
                        const Attrs& attrs) { return gradient_with_channels_last(in, attrs, {0}); },
    .family = "Convolution and pooling",
};

Tensor max_pool(Operand x, PoolAttrs attrs, Name name) { return add_op(op_max_pool, {x}, attrs, name); }
Tensor max_pool(Operand x, Name name) { return max_pool(x, {}, name); }
Tensor avg_pool(Operand x, PoolAttrs attrs, Name name) { return add_op(op_avg_pool, {x}, attrs, name); }
Tensor avg_pool(Operand x, Name name) { return avg_pool(x, {}, name); }

}  // namespace martello
