#include <gtest/gtest.h>
#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/conv2d_max_pool.h>
#include <martello/ops/internal/conv_attrs.h>
#include <martello/testing/op_test.h>
#include <martello/testing/run_kernel.h>

#include <algorithm>

namespace martello {
namespace {

using testing::error_of;
using testing::OpCase;
using testing::randn;
using testing::run_kernel;

// By the ops that it stands for, in f64.
HostTensors in_steps(const HostTensors& in, const ConvPoolAttrs& a) {
  const Attrs conv(internal::ConvOpAttrs{.conv = a.conv});
  HostTensor y = run_kernel(op_conv2d, {in[0].cast(f64), in[1].cast(f64)}, conv)[0];
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const double sum = y.at(i) + (in.size() == 3 ? in[2].at(i % in[2].num_elements()) : 0.0);
    y.set(i, a.activation == LinearActivation::relu ? std::max(sum, 0.0) : sum);
  }
  return {run_kernel(op_max_pool, {y}, Attrs(a.pool))[0]};
}

OpCase row(std::string label, Shape x, Shape kernel, ConvPoolAttrs a, bool has_bias = true) {
  HostTensors inputs = {randn(x, 1), randn(kernel, 2)};
  if (has_bias) inputs.push_back(randn(Shape(kernel[3]), 3));
  return {.label = std::move(label),
          .inputs = std::move(inputs),
          .build =
              [=](TensorList t) {
                return TensorList{conv2d_max_pool({t.begin(), t.end()}, a)};
              },
          .reference = [=](const HostTensors& in) { return in_steps(in, a); },
          .dtypes = {f32},
          .gradient = false,
          .tolerance = 2e-5};
}

constexpr LinearActivation kRelu = LinearActivation::relu;

OP_TEST(conv2d_max_pool, row("as in a convnet", {3, 28, 28, 1}, {3, 3, 1, 32}, {.activation = kRelu}),
        row("no bias", {2, 9, 8, 3}, {3, 3, 3, 16}, {.pool = {.size = 3, .stride = 2}}, false),
        row("windows overlap over all edges", {2, 9, 7, 2}, {3, 2, 2, 5},
            {.conv = {.stride = {1, 2}}, .activation = kRelu, .pool = {.size = 3, .stride = 1, .padding = Pad::same}}),
        row("windows leave gaps", {1, 16, 13, 1}, {5, 5, 1, 33}, {.pool = {.size = {2, 1}, .stride = {5, 4}}}),
        row("dilation and uneven padding", {1, 9, 8, 2}, {3, 3, 2, 3},
            {.conv = {.padding = {1, 0, 0, 4}, .dilation = {2, 3}}, .pool = {.size = 2, .padding = {1, 0, 0, 1}}}),
        row("one window", {2, 6, 5, 3}, {3, 3, 3, 20}, {.activation = kRelu, .pool = {.size = {6, 5}}}),
        row("one pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, {.pool = {.size = 1}}),
        row("tiles", {2, 14, 14, 32}, {3, 3, 32, 32}, {.activation = kRelu}),
        row("tiles over the edges", {3, 11, 9, 17}, {3, 3, 17, 35}, {}, false),
        row("tiles without padding", {1, 13, 16, 16}, {3, 3, 16, 20}, {.conv = {.padding = Pad::valid}}),
        row("tiles of a large kernel", {1, 9, 10, 96}, {3, 3, 96, 80}, {.activation = kRelu}),
        row("less than a tile", {5, 3, 2, 12}, {3, 3, 12, 5}, {}));

OP_REFUSES(conv2d_max_pool, windows_that_fit_nowhere,
           [] {
             conv2d_max_pool({placeholder({1, 4, 4, 1}, f32, "x"), placeholder({3, 3, 1, 8}, f32, "w")},
                             {.pool = {.size = 5}});
           },
           {"conv2d_max_pool", "5", "4"});

// Only passes make it, and only where there are loops.
TEST(conv2d_max_pool, says_what_it_has_no_loops_for) {
  const HostTensors wide = {randn({1, 8, 8, 16}).cast(f32), randn({3, 2, 16, 8}).cast(f32)};
  const std::string error = error_of([&] { run_kernel(op_conv2d_max_pool, wide, Attrs(ConvPoolAttrs{})); });
  for (const char* part : {"[1, 8, 8, 16]", "[3, 2, 16, 8]", "max_pool()"})
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, part, error);
}

}  // namespace
}  // namespace martello
