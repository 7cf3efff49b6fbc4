#include <gtest/gtest.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/ops/conv2d.h>
#include <martello/ops/internal/test_images.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <algorithm>

namespace martello {
namespace {

using testing::OpCase;
using testing::randn;

// Padding by the rule's own words, apart from padding.cc.
int64_t zeros_before(int64_t in, int64_t window, int axis, const Conv2DAttrs& a) {
  if (a.padding.rule() == Pad::valid) return a.padding.before(axis);
  const int64_t s = a.stride[axis], out = (in + s - 1) / s, reach = (window - 1) * a.dilation[axis] + 1;
  return std::max<int64_t>((out - 1) * s + reach - in, 0) / 2;
}

// Element (n, h, w, c) of an image batch.
int64_t pixel(const Shape& s, DataFormat f, int64_t n, int64_t h, int64_t w, int64_t c) {
  return f == DataFormat::nhwc ? ((n * s[1] + h) * s[2] + w) * s[3] + c : ((n * s[1] + c) * s[2] + h) * s[3] + w;
}

// Calls f(element of x, element of kernel, element of y) for all products of a convolution.
template <class F>
void for_products(const Shape& x, const Shape& kernel, const Shape& y, const Conv2DAttrs& a, const F& f) {
  const int h = a.data_format == DataFormat::nhwc ? 1 : 2, channels = a.data_format == DataFormat::nhwc ? 3 : 1;
  const int64_t per_group = kernel[3] / a.groups;
  const int64_t top = zeros_before(x[h], kernel[0], 0, a), left = zeros_before(x[h + 1], kernel[1], 1, a);
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t i = 0; i < y[h]; ++i)
      for (int64_t j = 0; j < y[h + 1]; ++j)
        for (int64_t o = 0; o < y[channels]; ++o)
          for (int64_t k = 0; k < kernel.num_elements(0, 3); ++k) {
            const int64_t c = k % kernel[2], kw = k / kernel[2] % kernel[1], kh = k / kernel[2] / kernel[1];
            const int64_t r = i * a.stride.h + kh * a.dilation.h - top, s = j * a.stride.w + kw * a.dilation.w - left;
            if (r < 0 || r >= x[h] || s < 0 || s >= x[h + 1]) continue;
            f(pixel(x, a.data_format, n, r, s, o / per_group * kernel[2] + c), k * kernel[3] + o,
              pixel(y, a.data_format, n, i, j, o));
          }
}

HostTensor naive_conv(const HostTensor& x, const HostTensor& kernel, const Shape& y, const Conv2DAttrs& a) {
  HostTensor out(y, f64);
  for_products(x.shape(), kernel.shape(), y, a,
               [&](int64_t i, int64_t k, int64_t o) { out.set(o, out.at(o) + x.at(i) * kernel.at(k)); });
  return out;
}

HostTensor naive_grad_input(const HostTensor& dy, const HostTensor& kernel, const Shape& x, const Conv2DAttrs& a) {
  HostTensor out(x, f64);
  for_products(x, kernel.shape(), dy.shape(), a,
               [&](int64_t i, int64_t k, int64_t o) { out.set(i, out.at(i) + dy.at(o) * kernel.at(k)); });
  return out;
}

HostTensor naive_grad_kernel(const HostTensor& x, const HostTensor& dy, const Shape& kernel, const Conv2DAttrs& a) {
  HostTensor out(kernel, f64);
  for_products(x.shape(), kernel, dy.shape(), a,
               [&](int64_t i, int64_t k, int64_t o) { out.set(k, out.at(k) + x.at(i) * dy.at(o)); });
  return out;
}

struct Case {
  const char* label;
  Shape x, kernel, y;
  Conv2DAttrs attrs = {};
};

constexpr auto kNchw = DataFormat::nchw;

std::vector<Case> cases() {
  return {
      {"one pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}},
      {"same", {2, 5, 4, 3}, {3, 3, 3, 4}, {2, 5, 4, 4}},
      {"valid", {2, 5, 6, 3}, {3, 2, 3, 4}, {2, 3, 5, 4}, {.padding = Pad::valid}},
      {"stride", {2, 6, 7, 3}, {3, 3, 3, 5}, {2, 3, 4, 5}, {.stride = 2}},
      {"stride beyond the window", {1, 7, 7, 2}, {2, 1, 2, 3}, {1, 3, 2, 3}, {.stride = {3, 4}}},
      {"strides differ", {1, 5, 8, 2}, {3, 2, 2, 3}, {1, 3, 3, 3}, {.stride = {1, 3}, .padding = Pad::valid}},
      {"dilation", {1, 7, 8, 2}, {3, 2, 2, 3}, {1, 7, 8, 3}, {.dilation = {2, 3}}},
      {"dilation and stride",
       {1, 9, 9, 2},
       {3, 3, 2, 3},
       {1, 3, 3, 3},
       {.stride = 2, .padding = Pad::valid, .dilation = 2}},
      {"places far outside", {1, 3, 4, 2}, {3, 3, 2, 3}, {1, 3, 4, 3}, {.dilation = INT32_MAX}},
      {"even window", {1, 5, 5, 2}, {4, 2, 2, 3}, {1, 5, 5, 3}},
      {"uneven padding", {1, 4, 5, 2}, {3, 3, 2, 3}, {1, 3, 7, 3}, {.padding = {1, 0, 0, 4}}},
      {"padding beyond the window", {1, 3, 3, 2}, {2, 2, 2, 3}, {1, 8, 2, 3}, {.padding = {4, 2, 0, 0}}},
      {"groups", {2, 4, 4, 6}, {3, 3, 2, 9}, {2, 4, 4, 9}, {.groups = 3}},
      {"a group per channel", {2, 4, 4, 6}, {3, 3, 1, 6}, {2, 2, 2, 6}, {.stride = 2, .groups = 6}},
      {"channels first", {2, 3, 5, 4}, {3, 3, 3, 4}, {2, 4, 5, 4}, {.data_format = kNchw}},
      {"channels first, all options",
       {2, 4, 6, 7},
       {3, 2, 2, 6},
       {2, 6, 3, 2},
       {.stride = {1, 2}, .padding = {0, 1, 1, 0}, .dilation = {2, 4}, .groups = 2, .data_format = kNchw}},
      {"many channels", {2, 6, 6, 32}, {3, 3, 32, 64}, {2, 6, 6, 64}},
      {"17 channels", {1, 3, 3, 17}, {3, 3, 17, 3}, {1, 3, 3, 3}},
      {"one channel to 17, channels first",
       {2, 1, 4, 3},
       {3, 2, 1, 17},
       {2, 17, 2, 2},
       {.stride = 2, .data_format = kNchw}},
      {"17 groups", {2, 3, 3, 17}, {3, 3, 1, 34}, {2, 2, 2, 34}, {.stride = 2, .groups = 17}},
      {"dilation, channels first",
       {1, 3, 7, 6},
       {3, 3, 3, 2},
       {1, 2, 3, 2},
       {.padding = Pad::valid, .dilation = 2, .data_format = kNchw}},
      {"no images", {0, 5, 4, 3}, {3, 3, 3, 4}, {0, 5, 4, 4}},
      {"no images, channels first", {0, 3, 5, 4}, {3, 3, 3, 4}, {0, 4, 3, 2}, {.stride = 2, .data_format = kNchw}},
      {"no input channels", {2, 5, 4, 0}, {3, 3, 0, 4}, {2, 5, 4, 4}},
      {"no output channels", {2, 5, 4, 3}, {3, 3, 3, 0}, {2, 5, 4, 0}},
  };
}

// Without AVX-512 the library cuts the sums of images with channels first by the number of threads.
bool has_fixed_bits(const Conv2DAttrs& a) {
  return a.data_format == DataFormat::nhwc || cpu::host_isa() == cpu::Isa::v4;
}

bool is_small(const Case& c) { return c.x[0] * c.kernel.num_elements() < 5000; }

OpCase forward_row(const Case& c) {
  return {.label = c.label,
          .inputs = {randn(c.x, 1), randn(c.kernel, 2)},
          .build = [a = c.attrs](TensorList t) { return TensorList{conv2d(t[0], t[1], a)}; },
          .reference = [c](const HostTensors& in) { return HostTensors{naive_conv(in[0], in[1], c.y, c.attrs)}; },
          .second_order = is_small(c),
          .same_bits = has_fixed_bits(c.attrs),
          .tolerance = 2e-5};
}

OpCase grad_input_row(const Case& c) {
  return {.label = c.label,
          .inputs = {randn(c.y, 1), randn(c.kernel, 2)},
          .build = [c](TensorList t) { return TensorList{conv2d_grad_input(t[0], t[1], c.x, c.attrs)}; },
          .reference = [c](const HostTensors& in) { return HostTensors{naive_grad_input(in[0], in[1], c.x, c.attrs)}; },
          .second_order = is_small(c),
          .tolerance = 2e-5};
}

// The library may cut a sum over images by the number of threads.
OpCase grad_kernel_row(const Case& c) {
  return {.label = c.label,
          .inputs = {randn(c.x, 1), randn(c.y, 2)},
          .build = [c](TensorList t) { return TensorList{conv2d_grad_kernel(t[0], t[1], c.kernel, c.attrs)}; },
          .reference =
              [c](const HostTensors& in) { return HostTensors{naive_grad_kernel(in[0], in[1], c.kernel, c.attrs)}; },
          .second_order = is_small(c),
          .same_bits = false,
          .tolerance = 2e-5};
}

std::vector<OpCase> rows(OpCase (*row)(const Case&)) {
  std::vector<OpCase> list;
  for (const Case& c : cases()) list.push_back(row(c));
  return list;
}

const testing::OpTestRows conv2d_rows("conv2d", __FILE__, __LINE__, rows(forward_row));
const testing::OpTestRows grad_input_rows("conv2d_grad_input", __FILE__, __LINE__, rows(grad_input_row));
const testing::OpTestRows grad_kernel_rows("conv2d_grad_kernel", __FILE__, __LINE__, rows(grad_kernel_row));

// A transposed convolution is the gradient of the convolution that maps `y` to `x`.
OpCase transpose_row(std::string label, Shape x, Shape kernel, Shape y, Conv2DAttrs a) {
  return {.label = std::move(label),
          .inputs = {randn(x, 1), randn(kernel, 2)},
          .build = [=](TensorList t) { return TensorList{conv2d_transpose(t[0], t[1], a)}; },
          .reference = [=](const HostTensors& in) { return HostTensors{naive_grad_input(in[0], in[1], y, a)}; },
          .tolerance = 2e-5};
}

// oneDNN 3.x gives these other bits with another number of threads.
OpCase varying(OpCase c) {
  c.same_bits = onednn::version().starts_with("oneDNN 2.");
  return c;
}

std::vector<OpCase> transpose_cases() {
  return {varying(transpose_row("same", {2, 3, 4, 5}, {3, 3, 2, 5}, {2, 6, 8, 2}, {.stride = 2})),
          varying(transpose_row("same 4/2", {2, 3, 4, 5}, {4, 4, 2, 5}, {2, 6, 8, 2}, {.stride = 2})),
          transpose_row("valid", {2, 3, 4, 5}, {3, 3, 2, 5}, {2, 7, 9, 2}, {.stride = 2, .padding = Pad::valid}),
          transpose_row("stride 1", {1, 3, 4, 2}, {3, 2, 3, 2}, {1, 5, 5, 3}, {.padding = Pad::valid}),
          transpose_row("window below the stride", {1, 3, 3, 2}, {1, 2, 3, 2}, {1, 9, 9, 3},
                        {.stride = 3, .padding = Pad::valid}),
          varying(transpose_row("numbers", {1, 3, 3, 2}, {4, 4, 3, 2}, {1, 6, 6, 3},
                                {.stride = 2, .padding = {1, 1, 1, 1}})),
          varying(transpose_row("channels first", {1, 2, 3, 3}, {4, 4, 3, 2}, {1, 3, 6, 6},
                                {.stride = 2, .data_format = kNchw}))};
}

// Into two channels of each group; 0 groups are as many as channels.
OpCase transpose_images(std::string label, const HostTensor& x, Conv2DAttrs a) {
  const int h = a.data_format == DataFormat::nhwc ? 1 : 2, channels = channel_axis(a.data_format, 4);
  const Shape kernel(3, 2, 2, x.shape()[channels]);
  if (a.groups == 0) a.groups = kernel[3];
  Shape y = x.shape().with(channels, 2 * a.groups);
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t s = a.stride[axis], in = y[h + axis], reach = (kernel[axis] - 1) * a.dilation[axis] + 1;
    const int64_t spread = (in - 1) * s + std::max(reach, s) - a.padding.before(axis) - a.padding.after(axis);
    y = y.with(h + axis, a.padding.rule() == Pad::same ? in * s : spread);
  }
  return varying(transpose_row(std::move(label), x.shape(), kernel, y, a));
}

const testing::OpTestRows transpose_rows("conv2d_transpose", __FILE__, __LINE__, transpose_cases());
const testing::OpTestRows transpose_image_rows(
    "conv2d_transpose", __FILE__, __LINE__,
    testing::image_rows<Conv2DAttrs>({{.stride = 2, .padding = Pad::valid, .groups = 0},
                                      {.stride = {1, 3}, .padding = {1, 0, 0, 1}},
                                      {.stride = 2, .padding = Pad::valid, .dilation = {1, 2}},
                                      {.stride = 2, .dilation = 2}},
                                     transpose_images));

TEST(conv2d_transpose, keeps_its_bits_with_the_same_number_of_threads) {
  const HostTensor x = randn({2, 3, 4, 5}, 1).cast(f32), kernel = randn({3, 3, 2, 5}, 2).cast(f32);
  const GraphScope scope;
  const Tensor y = conv2d_transpose(constant(x), placeholder(kernel.shape(), f32, "kernel"), {.stride = 2});
  for (int threads : {1, 2, 4}) {
    const auto run = [&](bool poison) {
      Session session(Graph::current(), {.threads = threads, .always_parallel = true, .poison_arena = poison});
      return session.eval(y, {{"kernel", kernel}});
    };
    const HostTensor first = run(false);
    for (int again = 0; again < 5; ++again) EXPECT_TRUE(first.same_bits(run(true))) << threads << " threads";
  }
}

// Two kernels of 2 x 2 for each channel.
OpCase depthwise_row(std::string label, const HostTensor& x, Conv2DAttrs a) {
  const int h = a.data_format == DataFormat::nhwc ? 1 : 2, channels = channel_axis(a.data_format, 4);
  Conv2DAttrs grouped = a;
  grouped.groups = x.shape()[channels];
  Shape y = x.shape().with(channels, 2 * grouped.groups);
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t in = y[h + axis] + a.padding.before(axis) + a.padding.after(axis);
    const int64_t least = a.padding.rule() == Pad::same ? 1 : a.dilation[axis] + 1;
    y = y.with(h + axis, (in - least) / a.stride[axis] + 1);
  }
  return {.label = std::move(label),
          .inputs = {x, randn({2, 2, grouped.groups, 2}, 2)},
          .build = [=](TensorList t) { return TensorList{depthwise_conv2d(t[0], t[1], a)}; },
          .reference =
              [=](const HostTensors& in) {
                const HostTensor w = in[1].reshaped({2, 2, 1, 2 * grouped.groups});
                return HostTensors{naive_conv(in[0], w, y, grouped)};
              },
          .second_order = true,
          .same_bits = has_fixed_bits(a),
          .unknown_shapes = false,
          .tolerance = 2e-5};
}
const testing::OpTestRows depthwise_rows("depthwise_conv2d", __FILE__, __LINE__,
                                         testing::image_rows<Conv2DAttrs>({{.stride = 2},
                                                                           {.padding = {1, 0, 0, 2}},
                                                                           {.dilation = {2, 1}},
                                                                           {.stride = {1, 2}, .padding = Pad::valid}},
                                                                          depthwise_row));

Tensor image(Shape shape, DType dtype = f32) { return placeholder(std::move(shape), dtype, "x"); }
Tensor weights(Shape shape, DType dtype = f32) { return placeholder(std::move(shape), dtype, "w"); }

TEST(conv2d, keeps_sizes_unknown_until_they_are_known) {
  const GraphScope scope;
  const Tensor x = image({kUnknown, kUnknown, 8, 3}), y = conv2d(x, weights({3, 3, 3, 4}), {.stride = {1, 2}});
  EXPECT_EQ(y.shape(), Shape(x.shape().symbolic()[0], x.shape().symbolic()[1], 4, 4));
  EXPECT_EQ(conv2d_transpose(x, weights({3, 3, 5, 3}), {.stride = 2}).shape().without_symbols(),
            Shape(kUnknown, kUnknown, 16, 5));
}

OP_REFUSES(conv2d, vectors, [] { conv2d(image({3}), weights({3, 3, 3, 4})); }, {"conv2d", "rank 4", "[3]"})
OP_REFUSES(conv2d, a_kernel_matrix, [] { conv2d(image({1, 5, 5, 3}), weights({3, 4})); }, {"rank 4", "[3, 4]"})
OP_REFUSES(conv2d, whole_numbers, [] { conv2d(image({1, 5, 5, 3}, i32), weights({3, 3, 3, 4}, i32)); }, {"f32 or f64"})
OP_REFUSES(conv2d, two_dtypes, [] { conv2d(image({1, 5, 5, 3}), weights({3, 3, 3, 4}, f64)); }, {"f64", "f32"})
OP_REFUSES(conv2d, other_channels,
           [] {
             conv2d(image({1, 5, 5, 3}), weights({3, 3, 4, 4}));
           },
           {"3 channels", "takes 4", "nhwc"})
OP_REFUSES(conv2d, groups_that_do_not_divide_the_input,
           [] {
             conv2d(image({1, 5, 5, 3}), weights({3, 3, 1, 4}), {.groups = 2});
           },
           {"2 groups", "3 input channels"})
OP_REFUSES(conv2d, groups_that_do_not_divide_the_output,
           [] {
             conv2d(image({1, 5, 5, 4}), weights({3, 3, 2, 5}), {.groups = 2});
           },
           {"2 groups", "5 output channels"})
OP_REFUSES(conv2d, no_groups,
           [] {
             conv2d(image({1, 5, 5, 3}), weights({3, 3, 3, 4}), {.groups = 0});
           },
           {"groups is 0"})
OP_REFUSES(conv2d, a_stride_of_zero,
           [] {
             conv2d(image({1, 5, 5, 3}), weights({3, 3, 3, 4}), {.stride = {1, 0}});
           },
           {"stride is [1, 0]", "at least 1"})
OP_REFUSES(conv2d, a_dilation_of_zero,
           [] {
             conv2d(image({1, 5, 5, 3}), weights({3, 3, 3, 4}), {.dilation = 0});
           },
           {"dilation is [0, 0]", "at least 1"})
OP_REFUSES(conv2d, negative_padding,
           [] {
             conv2d(image({1, 5, 5, 3}), weights({3, 3, 3, 4}), {.padding = {0, -1, 0, 0}});
           },
           {"[0, -1, 0, 0]", "negative", "slice()"})
OP_REFUSES(conv2d, a_window_larger_than_the_image,
           [] {
             conv2d(image({1, 5, 2, 3}), weights({3, 3, 3, 4}), {.padding = Pad::valid});
           },
           {"window of width 3", "width 2", "valid"})
OP_REFUSES(conv2d, a_dilated_window_larger_than_the_image,
           [] {
             conv2d(image({1, 5, 5, 3}), weights({3, 3, 3, 4}), {.padding = {1, 0, 2, 2}, .dilation = 3});
           },
           {"window of height 3 (7 with dilation 3)", "height 5", "[1, 0, 2, 2]"})
OP_REFUSES(conv2d, empty_images, [] { conv2d(image({1, 0, 5, 3}), weights({3, 3, 3, 4})); }, {"height 0"})
OP_REFUSES(conv2d, an_empty_window, [] { conv2d(image({1, 5, 5, 3}), weights({3, 0, 3, 4})); }, {"width 0"})
OP_REFUSES(conv2d, groups_of_a_depthwise_convolution,
           [] {
             depthwise_conv2d(image({1, 5, 5, 4}), weights({3, 3, 4, 1}), {.groups = 2});
           },
           {"depthwise_conv2d", "groups is 2"})
OP_REFUSES(conv2d, other_depthwise_channels,
           [] {
             depthwise_conv2d(image({1, 5, 5, 4}), weights({3, 3, 3, 1}));
           },
           {"depthwise_conv2d", "[1, 5, 5, 4]", "4 channels", "[3, 3, 3, 1]"})
OP_REFUSES(conv2d, a_depthwise_kernel_matrix,
           [] {
             depthwise_conv2d(image({1, 5, 5, 4}), weights({4, 1}));
           },
           {"depthwise_conv2d", "[4, 1]", "four dimensions"})
OP_REFUSES(conv2d, no_depthwise_channels,
           [] {
             depthwise_conv2d(image({1, 5, 5, 0}), weights({3, 3, 0, 1}));
           },
           {"depthwise_conv2d", "at least 1"})

OP_REFUSES(conv2d_grad_input, images_of_another_size,
           [] {
             conv2d_grad_input(image({1, 3, 3, 4}), weights({3, 3, 2, 4}), Shape(1, 9, 6, 2), {.stride = 2});
           },
           {"[1, 3, 3, 4]", "[1, 5, 3, 4]"})
OP_REFUSES(conv2d_grad_input, a_shape_of_rank_two,
           [] {
             conv2d_grad_input(image({1, 3, 3, 4}), weights({3, 3, 2, 4}), Shape(9, 6));
           },
           {"four sizes", "[9, 6]"})
OP_REFUSES(conv2d_grad_input, other_channels,
           [] {
             conv2d_grad_input(image({1, 3, 3, 4}), weights({3, 3, 2, 5}), Shape(1, 3, 3, 2));
           },
           {"4", "5"})
OP_REFUSES(conv2d_grad_input, padding_that_leaves_nothing,
           [] {
             conv2d_transpose(image({1, 2, 2, 4}), weights({1, 1, 2, 4}), {.padding = {1, 1, 0, 0}});
           },
           {"[1, 1, 0, 0]", "height 2"})
OP_REFUSES(conv2d_grad_kernel, another_output_size,
           [] {
             conv2d_grad_kernel(image({1, 5, 5, 2}), image({1, 4, 5, 4}), Shape(3, 3, 2, 4));
           },
           {"[1, 4, 5, 4]", "[1, 5, 5, 4]"})
OP_REFUSES(conv2d_grad_kernel, another_kernel,
           [] {
             conv2d_grad_kernel(image({1, 5, 5, 2}), image({1, 5, 5, 4}), Shape(3, 3, 3, 4));
           },
           {"[3, 3, 3, 4]", "[3, 3, 2, 4]"})
OP_REFUSES(conv2d_grad_kernel, no_shape,
           [] {
             conv2d_grad_kernel(image({1, 5, 5, 2}), image({1, 5, 5, 4}), Extents());
           },
           {"four sizes"})

}  // namespace
}  // namespace martello
