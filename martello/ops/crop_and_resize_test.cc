#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/crop_and_resize.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/internal/test_images.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

constexpr auto kNchw = DataFormat::nchw;

// Where place o of a crop lies in pixels of the image.
double place(double from, double to, int64_t o, int64_t count, int64_t size) {
  const double last = static_cast<double>(size - 1);
  if (count == 1) return (from + to) / 2 * last;
  return (from + (to - from) * static_cast<double>(o) / static_cast<double>(count - 1)) * last;
}

double pixel_part(double p, int64_t i) { return std::max(0.0, 1 - std::abs(p - static_cast<double>(i))); }

Shape crops_shape(const Shape& images, int64_t boxes, const CropAndResizeAttrs& a) {
  return a.data_format == kNchw ? Shape(boxes, images[1], a.height, a.width)
                                : Shape(boxes, a.height, a.width, images[3]);
}

// Calls f(place in the crops, place in the images, how much of the latter is in the former).
void for_parts(const Shape& images, const HostTensor& boxes, const HostTensor& box_image, const CropAndResizeAttrs& a,
               const std::function<void(const Index&, const Index&, double)>& f) {
  const size_t y = a.data_format == kNchw ? 2 : 1, x = y + 1;
  const int64_t height = images[static_cast<int>(y)], width = images[static_cast<int>(x)];
  const Shape crops = crops_shape(images, boxes.shape()[0], a);
  for (int64_t k = 0; k < crops.num_elements(); ++k) {
    const Index o = index_of(crops, k);
    const int64_t b = o[0];
    const double v = place(at(boxes, {b, 0}), at(boxes, {b, 2}), o[y], a.height, height);
    const double u = place(at(boxes, {b, 1}), at(boxes, {b, 3}), o[x], a.width, width);
    if (!(v >= 0 && v <= static_cast<double>(height - 1) && u >= 0 && u <= static_cast<double>(width - 1))) continue;
    Index i = o;
    i[0] = static_cast<int64_t>(box_image.at(b));
    for (i[y] = 0; i[y] < height; ++i[y])
      for (i[x] = 0; i[x] < width; ++i[x])
        if (const double part = pixel_part(v, i[y]) * pixel_part(u, i[x]); part > 0) f(o, i, part);
  }
}

HostTensor naive_crops(const HostTensors& in, const CropAndResizeAttrs& a) {
  HostTensor crops(crops_shape(in[0].shape(), in[1].shape()[0], a), f64);
  for_parts(in[0].shape(), in[1], in[2], a, [&](const Index& o, const Index& i, double part) {
    const int64_t k = flat_index(crops.shape(), o);
    crops.set(k, crops.at(k) + part * at(in[0], i));
  });
  return crops;
}

HostTensor naive_crops_grad(const HostTensors& in, const Shape& images, const CropAndResizeAttrs& a) {
  HostTensor dx(images, f64);
  for_parts(images, in[1], in[2], a, [&](const Index& o, const Index& i, double part) {
    const int64_t k = flat_index(images, i);
    dx.set(k, dx.at(k) + part * at(in[0], o));
  });
  return dx;
}

// Boxes are constants of the graph: the gradient is that of the images.
OpCase row(std::string label, Shape images, HostTensor boxes, HostTensor box_image, CropAndResizeAttrs a) {
  return {.label = std::move(label),
          .inputs = {randn(std::move(images))},
          .build =
              [=](TensorList in) {
                const Tensor b = constant(boxes.cast(in[0].dtype())), i = constant(box_image);
                return TensorList{crop_and_resize(in[0], b, i, a)};
              },
          .reference =
              [=](const HostTensors& in) {
                return HostTensors{naive_crops({in[0], boxes, box_image}, a)};
              },
          .second_order = true};
}

HostTensor inside(int64_t n) {
  HostTensor boxes = uniform({n, 4}, 0, 0.5);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 2; k < 4; ++k) boxes.set(i * 4 + k, boxes.at(i * 4 + k) + 0.45);
  return boxes;
}

OP_TEST(crop_and_resize, row("inside", {2, 5, 6, 3}, inside(4), integers({4}, 0, 2), {.height = 3, .width = 4}),
        row("beyond the image", {2, 5, 6, 2}, uniform({6, 4}, -0.7, 1.6), integers({6}, 0, 2, i64), {3, 5}),
        row("one pixel", {1, 5, 6, 2}, inside(3), HostTensor({3}, i32), {1, 1}),
        row("upside down", {1, 5, 6, 2}, HostTensor::of<double>({0.93, 0.81, 0.12, 0.07}, {1, 4}), HostTensor({1}, i32),
            {4, 4}),
        row("nchw", {2, 3, 5, 6}, inside(4), integers({4}, 0, 2), {3, 4, kNchw}),
        row("70 channels", {2, 3, 4, 70}, inside(3), integers({3}, 0, 2), {2, 3}),
        row("an image of one pixel", {1, 1, 1, 2}, inside(2), HostTensor({2}, i32), {2, 2}),
        row("no boxes", {2, 5, 6, 3}, HostTensor({0, 4}, f64), HostTensor({0}, i32), {3, 4}),
        row("no channels", {2, 5, 6, 0}, inside(2), HostTensor({2}, i32), {3, 4}),
        row("many boxes", {3, 9, 8, 4}, uniform({40, 4}, -0.2, 1.2), integers({40}, 0, 3), {7, 7}));

OpCase grad_row(std::string label, Shape images, HostTensor boxes, HostTensor box_image, CropAndResizeAttrs a) {
  return {.label = std::move(label),
          .inputs = {randn(crops_shape(images, boxes.shape()[0], a))},
          .build =
              [=](TensorList in) {
                const Tensor b = constant(boxes.cast(in[0].dtype())), i = constant(box_image);
                return TensorList{crop_and_resize_grad(in[0], b, i, a, images)};
              },
          .reference =
              [=](const HostTensors& in) {
                return HostTensors{naive_crops_grad({in[0], boxes, box_image}, images, a)};
              },
          .second_order = true};
}
OP_TEST(crop_and_resize_grad,
        grad_row("whole image", {3, 4, 5, 3}, HostTensor::of<double>({0, 0, 1, 1, 0, 0, 1, 1}, {2, 4}),
                 HostTensor::of<int32_t>({1, 1}), {4, 5}));

// Two boxes, where there are images.
std::vector<OpCase> box_rows(OpCase (*make)(std::string, Shape, HostTensor, HostTensor, CropAndResizeAttrs)) {
  return image_rows<CropAndResizeAttrs>({{2, 2}, {1, 3}},
                                        [=](std::string label, const HostTensor& x, CropAndResizeAttrs a) {
                                          const int64_t images = x.shape()[0], boxes = images > 0 ? 2 : 0;
                                          return make(std::move(label), x.shape(), uniform({boxes, 4}, -0.1, 1.1),
                                                      integers({boxes}, 0, std::max<int64_t>(images, 1)), a);
                                        });
}
const OpTestRows crop_rows("crop_and_resize", __FILE__, __LINE__, box_rows(row));
const OpTestRows crop_grad_rows("crop_and_resize_grad", __FILE__, __LINE__, box_rows(grad_row));

TEST(crop_and_resize, names_the_box_of_an_image_that_is_not_there) {
  GraphScope scope;
  const Tensor box_image = placeholder({3}, i32, "box_image");
  const Tensor y = crop_and_resize(constant(randn({2, 3, 3, 1})), constant(inside(3)), box_image, {2, 2}, "rois");
  try {
    Session(scope.graph()).eval(y, {{box_image, HostTensor::of<int32_t>({0, 2, -1})}});
    FAIL();
  } catch (const InvalidArgument& e) {
    const std::string text = e.what();
    for (const char* part : {"rois", "box_image[1] is 2", "2 images"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

Tensor input(Shape shape, DType dtype = f32) { return placeholder(std::move(shape), dtype, "x"); }

OP_REFUSES(crop_and_resize, boxes_of_three,
           [] {
             crop_and_resize(input({1, 2, 2, 3}), input({5, 3}), input({5}, i32), {2, 2});
           },
           {"boxes", "[5, 3]", "four numbers"})
OP_REFUSES(crop_and_resize, another_number_of_boxes,
           [] {
             crop_and_resize(input({1, 2, 2, 3}), input({5, 4}), input({4}, i32), {2, 2});
           },
           {"[5, 4]", "[4]", "differ in number"})
OP_REFUSES(crop_and_resize, floating_box_image,
           [] {
             crop_and_resize(input({1, 2, 2, 3}), input({5, 4}), input({5}), {2, 2});
           },
           {"f32[5]"})
OP_REFUSES(crop_and_resize, boxes_of_another_dtype,
           [] {
             crop_and_resize(input({1, 2, 2, 3}), input({5, 4}, f64), input({5}, i32), {2, 2});
           },
           {"f64"})
OP_REFUSES(crop_and_resize, nothing,
           [] {
             crop_and_resize(input({1, 2, 2, 3}), input({5, 4}), input({5}, i32), {0, 2});
           },
           {"0 x 2"})
OP_REFUSES(crop_and_resize, rank_3,
           [] {
             crop_and_resize(input({2, 2, 3}), input({5, 4}), input({5}, i32), {2, 2});
           },
           {"[2, 2, 3]"})

}  // namespace
}  // namespace martello::testing
