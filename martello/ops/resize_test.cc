#include <martello/graph/core_ops.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/internal/test_images.h>
#include <martello/ops/resize.h>
#include <martello/ops/shape.h>
#include <martello/ops/slice.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

constexpr auto kNearest = ResizeMethod::nearest, kBilinear = ResizeMethod::bilinear;
constexpr auto kTopLeft = ResizeGrid::top_left;
constexpr auto kCorners = ResizeGrid::align_corners, kHalf = ResizeGrid::half_pixel;
constexpr auto kNchw = DataFormat::nchw;

// Where pixel o of the output lies on the input's axis.
double place(ResizeGrid grid, int64_t o, int64_t in, int64_t out) {
  const double scale = static_cast<double>(in) / static_cast<double>(out), at = static_cast<double>(o);
  if (grid == kTopLeft) return at * scale;
  if (grid == kHalf) return std::clamp((at + 0.5) * scale - 0.5, 0.0, static_cast<double>(in - 1));
  return out == 1 ? 0 : at * static_cast<double>(in - 1) / static_cast<double>(out - 1);
}

// How much of input pixel i is in output pixel o, along one axis.
double part_of(const ResizeAttrs& a, int64_t i, int64_t o, int64_t in, int64_t out) {
  const double p = std::min(place(a.grid, o, in, out), static_cast<double>(in - 1));
  if (a.method == kBilinear) return std::max(0.0, 1 - std::abs(p - static_cast<double>(i)));
  const double scale = static_cast<double>(in) / static_cast<double>(out), tiny = 1e-9;
  if (a.grid == kHalf) return i == std::min<int64_t>(in - 1, std::floor((static_cast<double>(o) + 0.5) * scale + tiny));
  return i == static_cast<int64_t>(a.grid == kTopLeft ? std::floor(p + tiny) : std::round(p + tiny));
}

Shape with_size(const Shape& x, const Shape& size, const ResizeAttrs& a) {
  const int axis = a.data_format == kNchw ? 2 : 1;
  return x.with(axis, size[0]).with(axis + 1, size[1]);
}

HostTensor naive_resize(const HostTensor& x, const Shape& size, const ResizeAttrs& a) {
  const size_t axis = a.data_format == kNchw ? 2 : 1;
  const int64_t height = x.shape()[static_cast<int>(axis)], width = x.shape()[static_cast<int>(axis) + 1];
  return tabulate(with_size(x.shape(), size, a), f64, [&](Index o) {
    const int64_t row = o[axis], column = o[axis + 1];
    double sum = 0;
    for (o[axis] = 0; o[axis] < height; ++o[axis])
      for (o[axis + 1] = 0; o[axis + 1] < width; ++o[axis + 1]) {
        const double part = part_of(a, o[axis], row, height, size[0]) * part_of(a, o[axis + 1], column, width, size[1]);
        if (part > 0) sum += part * at(x, o);
      }
    return sum;
  });
}

OpCase row(std::string label, Shape shape, Shape size, ResizeAttrs a) {
  return {.label = std::move(label),
          .inputs = {randn(std::move(shape))},
          .build = [=](TensorList x) { return TensorList{resize(x[0], size, a)}; },
          .reference = [=](const HostTensors& in) { return HostTensors{naive_resize(in[0], size, a)}; },
          .second_order = true};
}

OP_TEST(resize, row("nearest up", {2, 3, 4, 2}, {6, 8}, {.method = kNearest}),
        row("nearest by no whole number", {1, 5, 7, 3}, {8, 9}, {.method = kNearest}),
        row("nearest down", {2, 7, 9, 1}, {3, 4}, {.method = kNearest}),
        row("nearest corners", {1, 4, 5, 2}, {7, 9}, {.method = kNearest, .grid = kCorners}),
        row("nearest corners down", {1, 9, 7, 2}, {4, 5}, {.method = kNearest, .grid = kCorners}),
        row("nearest half pixel", {1, 4, 5, 2}, {9, 7}, {.method = kNearest, .grid = kHalf}),
        row("nearest half pixel down", {1, 9, 8, 2}, {4, 3}, {.method = kNearest, .grid = kHalf}),
        row("bilinear up", {2, 3, 4, 2}, {6, 8}, {}), row("bilinear by no whole number", {1, 5, 7, 3}, {8, 11}, {}),
        row("bilinear down", {1, 9, 11, 2}, {4, 3}, {}),
        row("bilinear corners", {1, 4, 5, 2}, {7, 9}, {.grid = kCorners}),
        row("bilinear corners down", {1, 9, 7, 2}, {4, 5}, {.grid = kCorners}),
        row("bilinear half pixel", {2, 4, 5, 1}, {8, 11}, {.grid = kHalf}),
        row("bilinear half pixel down", {1, 11, 9, 2}, {4, 3}, {.grid = kHalf}),
        row("to one pixel", {1, 4, 5, 2}, {1, 1}, {.grid = kCorners}), row("from one pixel", {2, 1, 1, 3}, {3, 4}, {}),
        row("from one pixel, corners", {2, 1, 1, 3}, {3, 4}, {.grid = kCorners}),
        row("same size", {1, 4, 5, 2}, {4, 5}, {.grid = kHalf}), row("channels 17", {1, 3, 3, 17}, {5, 4}, {}),
        row("many channels", {1, 2, 2, 70}, {3, 3}, {}), row("nchw", {2, 3, 4, 5}, {7, 6}, {.data_format = kNchw}),
        row("nchw nearest", {1, 17, 3, 4}, {6, 2}, {.method = kNearest, .data_format = kNchw}),
        row("nchw corners", {1, 2, 5, 4}, {3, 8}, {.grid = kCorners, .data_format = kNchw}),
        row("no images", {0, 3, 4, 2}, {6, 8}, {}), row("no channels", {2, 3, 4, 0}, {6, 8}, {}),
        {.label = "to the size of another",
         .inputs = {randn({1, 3, 4, 2}), randn({1, 5, 6, 1}, 2)},
         .build = [](TensorList x) { return TensorList{resize(x[0], slice(shape(x[1]), {1}, {2})) * x[1]}; },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{map_elements(
                   {naive_resize(in[0], {5, 6}, {}), in[1]}, [](const auto& v) { return v[0] * v[1]; }, f64)};
             }});

// Each pixel of dy, given back to the pixels that it was made of.
HostTensor naive_resize_grad(const HostTensor& dy, const Shape& size, const ResizeAttrs& a) {
  const size_t axis = a.data_format == kNchw ? 2 : 1;
  const int64_t height = dy.shape()[static_cast<int>(axis)], width = dy.shape()[static_cast<int>(axis) + 1];
  return tabulate(with_size(dy.shape(), size, a), f64, [&](Index i) {
    const int64_t row = i[axis], column = i[axis + 1];
    double sum = 0;
    for (i[axis] = 0; i[axis] < height; ++i[axis])
      for (i[axis + 1] = 0; i[axis + 1] < width; ++i[axis + 1])
        sum += part_of(a, row, i[axis], size[0], height) * part_of(a, column, i[axis + 1], size[1], width) * at(dy, i);
    return sum;
  });
}

OpCase grad_row(std::string label, HostTensor dy, ResizeAttrs a) {
  const Shape size(4, 3);
  return {.label = std::move(label),
          .inputs = {std::move(dy)},
          .build = [=](TensorList in) { return TensorList{resize_grad(in[0], size, a)}; },
          .reference = [=](const HostTensors& in) { return HostTensors{naive_resize_grad(in[0], size, a)}; },
          .second_order = true};
}
OP_TEST(resize_grad, grad_row("bilinear", randn({2, 6, 7, 3}), {}));
const OpTestRows grad_rows(
    "resize_grad", __FILE__, __LINE__,
    image_rows<ResizeAttrs>(
        {{}, {.method = kNearest}, {.grid = kCorners}, {.grid = kHalf}, {.method = kNearest, .grid = kHalf}},
        grad_row));

Tensor images(Shape shape, DType dtype = f32) { return placeholder(std::move(shape), dtype, "x"); }

OP_REFUSES(resize, no_size, [] { resize(images({1, 2, 2, 3}), {0, 4}); }, {"resize", "[0, 4]", "1 x 1"})
OP_REFUSES(resize, one_size, [] { resize(images({1, 2, 2, 3}), Shape(4)); }, {"[4]", "a height and a width"})
OP_REFUSES(resize, unknown_size, [] { resize(images({1, 2, 2, 3}), {kUnknown, 4}); }, {"[-1, 4]"})
OP_REFUSES(resize, no_pixels, [] { resize(images({1, 0, 2, 3}), {3, 4}); }, {"[1, 0, 2, 3]", "no pixel"})
OP_REFUSES(resize, rank_3, [] { resize(images({2, 2, 3}), {3, 4}); }, {"[2, 2, 3]"})
OP_REFUSES(resize, bytes, [] { resize(images({1, 2, 2, 3}, u8), {3, 4}); }, {"u8", "f32, f64", "cast()"})
OP_REFUSES(resize, too_large,
           [] {
             resize(images({1, 2, 2, 3}), {int64_t{1} << 31, int64_t{1} << 31});
           },
           {"does not fit"})

}  // namespace
}  // namespace martello::testing
