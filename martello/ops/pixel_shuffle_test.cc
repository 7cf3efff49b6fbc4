#include <martello/graph/core_ops.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/internal/test_images.h>
#include <martello/ops/pixel_shuffle.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

constexpr auto kNchw = DataFormat::nchw;
constexpr auto kBlockMajor = PixelOrder::block_major;

struct Axes3 {
  size_t channel, height, width;
};
Axes3 axes_of(const PixelShuffleAttrs& a) { return a.data_format == kNchw ? Axes3{1, 2, 3} : Axes3{3, 1, 2}; }

// The place in the image with many channels of a place in the large one.
Index packed_place(Index o, const PixelShuffleAttrs& a, int64_t channels) {
  const Axes3 at = axes_of(a);
  const int64_t b = a.block, i = o[at.height] % b, j = o[at.width] % b;
  o[at.height] /= b;
  o[at.width] /= b;
  o[at.channel] = a.order == kBlockMajor ? (i * b + j) * channels + o[at.channel] : (o[at.channel] * b + i) * b + j;
  return o;
}

Shape spread_shape(const Shape& x, const PixelShuffleAttrs& a) {
  const Axes3 at = axes_of(a);
  std::vector<int64_t> y = x.symbolic();
  y[at.channel] /= a.block * a.block;
  y[at.height] *= a.block;
  y[at.width] *= a.block;
  return Shape(y);
}

HostTensor naive_shuffle(const HostTensor& x, const PixelShuffleAttrs& a) {
  const Shape y = spread_shape(x.shape(), a);
  const int64_t channels = y[static_cast<int>(axes_of(a).channel)];
  return tabulate(y, x.dtype(), [&](const Index& o) { return at(x, packed_place(o, a, channels)); });
}

OpCase row(std::string label, HostTensor x, PixelShuffleAttrs a) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{pixel_shuffle(in[0], a)}; },
          .reference = [=](const HostTensors& in) { return HostTensors{naive_shuffle(in[0], a)}; },
          .dtypes = {f32, f64, bf16, f16}};
}
// A shuffled batch and back.
OpCase back(std::string label, HostTensor x, PixelShuffleAttrs a) {
  return {.label = std::move(label),
          .inputs = {naive_shuffle(x, a)},
          .build = [=](TensorList in) { return TensorList{pixel_unshuffle(in[0], a)}; },
          .reference = [=](const HostTensors&) { return HostTensors{x}; }};
}

OP_TEST(pixel_shuffle, row("nhwc", randn({2, 3, 4, 8}), {}), row("block 3", randn({1, 2, 3, 18}), {.block = 3}),
        row("block major", randn({2, 3, 4, 8}), {.order = kBlockMajor}),
        row("nchw", randn({2, 12, 3, 4}), {.data_format = kNchw}),
        row("nchw block major", randn({2, 12, 3, 4}), {.order = kBlockMajor, .data_format = kNchw}),
        row("one channel", randn({3, 5, 7, 4}), {}), row("block 1", randn({2, 3, 4, 5}), {.block = 1}),
        row("17 channels", randn({1, 3, 2, 68}), {.order = kBlockMajor}), row("no images", randn({0, 3, 4, 8}), {}),
        row("no rows", randn({2, 0, 4, 8}), {}), row("integers", integers({2, 3, 4, 8}, -9, 9), {}),
        {.label = "depth to space and back",
         .inputs = {randn({2, 4, 6, 3})},
         .build = [](TensorList x) { return TensorList{depth_to_space(space_to_depth(x[0], 2), 2)}; },
         .reference = [](const HostTensors& in) { return in; }});
OP_TEST(pixel_unshuffle, back("nhwc", randn({2, 3, 4, 8}), {}),
        back("block major", randn({2, 3, 4, 8}), {.order = kBlockMajor}),
        back("nchw", randn({2, 12, 3, 4}), {.data_format = kNchw}),
        back("nchw block major", randn({2, 12, 3, 4}), {.order = kBlockMajor, .data_format = kNchw}));

// Of batches with four times the channels.
std::vector<OpCase> rows_in_both_orders(OpCase (*make)(std::string, HostTensor, PixelShuffleAttrs)) {
  return image_rows<PixelShuffleAttrs>({{}, {.order = kBlockMajor}},
                                       [=](std::string label, const HostTensor& x, PixelShuffleAttrs a) {
                                         const int axis = channel_axis(a.data_format, 4);
                                         const Shape shape = x.shape().with(axis, 4 * x.shape()[axis]);
                                         return make(std::move(label), randn(shape), a);
                                       });
}
const OpTestRows shuffle_rows("pixel_shuffle", __FILE__, __LINE__, rows_in_both_orders(row));
const OpTestRows unshuffle_rows("pixel_unshuffle", __FILE__, __LINE__, rows_in_both_orders(back));

OP_REFUSES(pixel_shuffle, channels_that_do_not_divide,
           [] {
             pixel_shuffle(placeholder({1, 2, 2, 6}, f32, "x"));
           },
           {"pixel_shuffle", "is 6", "multiple of 4", "nhwc"})
OP_REFUSES(pixel_unshuffle, rows_that_do_not_divide,
           [] {
             pixel_unshuffle(placeholder({1, 3, 2, 6}, f32, "x"));
           },
           {"pixel_unshuffle", "dimension 1", "is 3", "multiple of 2"})
OP_REFUSES(pixel_shuffle, no_block,
           [] {
             pixel_shuffle(placeholder({1, 2, 2, 4}, f32, "x"), {.block = 0});
           },
           {"block 0"})
OP_REFUSES(pixel_shuffle, rank_3, [] { pixel_shuffle(placeholder({2, 2, 4}, f32, "x")); }, {"[2, 2, 4]"})
OP_REFUSES(pixel_shuffle, a_huge_block,
           [] {
             pixel_shuffle(placeholder({1, 2, 2, 4}, f32, "x"), {.block = int64_t{1} << 40});
           },
           {})

}  // namespace
}  // namespace martello::testing
