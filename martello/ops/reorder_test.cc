#include <gtest/gtest.h>
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/internal/conv_case.h>
#include <martello/ops/internal/conv_library.h>
#include <martello/ops/internal/reorder_attrs.h>
#include <martello/testing/op_test.h>
#include <martello/testing/run_kernel.h>

#include <cmath>

namespace martello {
namespace {

using internal::ConvDirection;
using internal::ConvOpAttrs;
using internal::ReorderAttrs;
using testing::ConvCase;
using testing::problem_of;
using testing::randn;
using testing::run_kernel;

std::vector<ConvCase> cases() {
  return {{{1, 14, 14, 32}, {3, 3, 32, 32}},
          {{2, 28, 28, 1}, {3, 3, 1, 32}},
          {{2, 56, 56, 3}, {7, 7, 3, 64}, {.stride = 2}},
          {{6, 14, 14, 64}, {1, 1, 64, 256}},
          {{2, 14, 14, 48}, {3, 3, 48, 72}, {.stride = 2, .padding = Pad::valid}},
          {{2, 9, 9, 32}, {3, 3, 16, 64}, {.groups = 2}},
          {{2, 9, 9, 32}, {3, 3, 1, 32}, {.groups = 32}},
          {{1, 20, 20, 16}, {3, 3, 16, 16}, {.dilation = 2}},
          {{2, 32, 10, 10}, {3, 3, 32, 64}, {.data_format = DataFormat::nchw}}};
}

ReorderAttrs reorder_for(const ConvCase& c, ConvDirection direction, int threads) {
  const OpInfo op{"test", "reorder"};
  return {direction, c.conv, c.x, internal::find_packing(op, problem_of(c), direction, threads)};
}

HostTensor random_f32(const Shape& shape, uint64_t seed) { return randn(shape, seed).cast(f32); }

// A convolution with its kernel in the library's layout has the bits of one that packs by itself.
void expect_same(const ConvCase& c, const OpDef& op, ConvDirection direction, const HostTensor& a,
                 const HostTensor& b) {
  ConvOpAttrs attrs{.conv = c.conv, .shape = direction == ConvDirection::grad_kernel ? c.kernel : c.x};
  if (direction == ConvDirection::forward) attrs.shape = Shape();
  for (int threads : {1, 2}) {
    const testing::KernelOptions options{.threads = threads};
    const HostTensor expected = run_kernel(op, {a, b}, Attrs(attrs), options)[0];
    const ReorderAttrs reorder = reorder_for(c, direction, threads);
    if (!reorder.packing.is_packed()) continue;
    ConvOpAttrs packed = attrs;
    packed.packing = reorder.packing;
    const bool is_back = direction == ConvDirection::grad_kernel;
    const HostTensor kernel = is_back ? b : run_kernel(op_reorder, {b}, Attrs(reorder), options)[0];
    HostTensor y = run_kernel(op, {a, kernel}, Attrs(packed), options)[0];
    if (is_back) y = run_kernel(op_reorder, {y}, Attrs(reorder), options)[0];
    EXPECT_TRUE(y.same_bits(expected)) << op.name << " " << c.x.str() << c.kernel.str() << " " << threads;
  }
}

TEST(reorder, keeps_the_bits_of_convolutions) {
  int packed = 0;
  for (const ConvCase& c : cases()) {
    const HostTensor x = random_f32(c.x, 1), kernel = random_f32(c.kernel, 2);
    const HostTensor dy = random_f32(problem_of(c).y_shape(), 3);
    expect_same(c, op_conv2d, ConvDirection::forward, x, kernel);
    expect_same(c, op_conv2d_grad_input, ConvDirection::grad_input, dy, kernel);
    expect_same(c, op_conv2d_grad_kernel, ConvDirection::grad_kernel, x, dy);
    packed += reorder_for(c, ConvDirection::forward, 1).packing.is_packed();
  }
  EXPECT_GT(packed, 5);
}

HostTensor with_bias(HostTensor y, const HostTensor& bias, int64_t inner, bool relu) {
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const float v = static_cast<float>(y.at(i)) + static_cast<float>(bias.at(i / inner % bias.num_elements()));
    y.set(i, relu && v <= 0 ? 0 : v);
  }
  return y;
}

// What fusion promises of conv2d with a bias, packed or not.
TEST(reorder, keeps_the_bits_of_a_bias) {
  for (const ConvCase& c : cases()) {
    const HostTensor x = random_f32(c.x, 1), kernel = random_f32(c.kernel, 2), bias = random_f32(Shape(c.kernel[3]), 3);
    const Shape y = problem_of(c).y_shape();
    const int64_t inner = c.conv.data_format == DataFormat::nhwc ? 1 : y[2] * y[3];
    for (int threads : {1, 2}) {
      const testing::KernelOptions options{.threads = threads};
      ConvOpAttrs attrs{.conv = c.conv};
      const HostTensor plain = run_kernel(op_conv2d, {x, kernel}, Attrs(attrs), options)[0];
      const ReorderAttrs reorder = reorder_for(c, ConvDirection::forward, threads);
      for (bool relu : {false, true}) {
        attrs.activation = relu ? LinearActivation::relu : LinearActivation::none;
        const HostTensor expected = with_bias(plain, bias, inner, relu);
        EXPECT_TRUE(run_kernel(op_conv2d, {x, kernel, bias}, Attrs(attrs), options)[0].same_bits(expected))
            << c.x.str() << c.kernel.str() << " " << threads;
        if (!reorder.packing.is_packed()) continue;
        ConvOpAttrs packed = attrs;
        packed.packing = reorder.packing;
        const HostTensor w = run_kernel(op_reorder, {kernel}, Attrs(reorder), options)[0];
        EXPECT_TRUE(run_kernel(op_conv2d, {x, w, bias}, Attrs(packed), options)[0].same_bits(expected))
            << "packed " << c.x.str() << c.kernel.str() << " " << threads;
      }
    }
  }
}

TEST(reorder, leaves_nan_to_relu) {
  HostTensor x({1, 6, 6, 16}, f32);
  x.set(0, NAN);
  const ConvOpAttrs attrs{.activation = LinearActivation::relu};
  for (DType dtype : {f32, f64}) {
    const HostTensor kernel = HostTensor::full({3, 3, 16, 16}, dtype, 1), bias = HostTensor::full({16}, dtype, -1);
    const HostTensor y = run_kernel(op_conv2d, {x.cast(dtype), kernel, bias}, Attrs(attrs))[0];
    EXPECT_TRUE(std::isnan(y.at(0))) << str(dtype);
    EXPECT_EQ(y.at(y.num_elements() - 1), 0) << str(dtype);
  }
}

// A convolution over a packed kernel is what the row computes, so that the opaque layout has a meaning.
testing::OpCase row(std::string label, ConvDirection direction) {
  const ConvCase c{{2, 6, 6, 32}, {3, 3, 32, 64}};
  const bool is_forward = direction == ConvDirection::forward;
  const OpDef& op = is_forward ? op_conv2d : op_conv2d_grad_input;
  const ConvOpAttrs plain{.conv = c.conv, .shape = is_forward ? Shape() : c.x};
  return {.label = std::move(label),
          .inputs = {randn(is_forward ? c.x : Shape(2, 6, 6, 64), 1), randn(c.kernel, 2)},
          .build =
              [=, &op](TensorList t) {
                const ReorderAttrs reorder = reorder_for(c, direction, 1);
                ConvOpAttrs packed = plain;
                packed.packing = reorder.packing;
                const Tensor kernel = add_op(op_reorder, {t[1]}, reorder, "reorder");
                return TensorList{add_op(op, {t[0], kernel}, packed, "y")};
              },
          .reference =
              [=, &op](const HostTensors& in) {
                return HostTensors{run_kernel(op, {in[0].cast(f64), in[1].cast(f64)}, Attrs(plain))[0]};
              },
          .dtypes = {f32},
          .gradient = false,
          .unknown_shapes = false,
          .tolerance = 2e-5};
}
OP_TEST(reorder, row("for a convolution", ConvDirection::forward), row("for its gradient", ConvDirection::grad_input));

Tensor input(Shape shape, DType dtype = f32) { return placeholder(std::move(shape), dtype, "x"); }
ReorderAttrs some_reorder(int64_t elements, int threads) {
  return {ConvDirection::forward, {}, {2, 6, 6, 32}, {{3, 3, 32, 64}, elements, threads}};
}

OP_REFUSES(reorder, doubles, [] { add_op(op_reorder, {input({3, 3, 32, 64}, f64)}, some_reorder(8, 1), "r"); }, {"f32"})
OP_REFUSES(reorder, another_kernel,
           [] {
             add_op(op_reorder, {input({3, 3, 32, 32})}, some_reorder(8, 1), "r");
           },
           {"[3, 3, 32, 32]", "[3, 3, 32, 64]"})
OP_REFUSES(reorder, no_threads,
           [] {
             add_op(op_reorder, {input({3, 3, 32, 64})}, some_reorder(8, 0), "r");
           },
           {"0 threads"})
OP_REFUSES(reorder, no_convolution,
           [] {
             add_op(op_reorder, {input({3, 3, 32, 64})}, ReorderAttrs{}, "r");
           },
           {"four sizes"})
OP_REFUSES(conv2d, packed_numbers_of_another_kernel,
           [] {
             const ConvOpAttrs attrs{.packing = {{3, 3, 32, 64}, 9, 1}};
             add_op(op_conv2d, {input({2, 6, 6, 32}), input(Shape(8))}, attrs, "y");
           },
           {"[8]", "9 numbers"})
OP_REFUSES(conv2d, a_bias_of_another_size,
           [] {
             add_op(op_conv2d, {input({2, 6, 6, 3}), input({3, 3, 3, 4}), input(Shape(5))}, ConvOpAttrs{}, "y");
           },
           {"4 channels", "5 numbers"})
OP_REFUSES(conv2d, an_activation_without_a_bias,
           [] {
             const ConvOpAttrs attrs{.activation = LinearActivation::relu};
             add_op(op_conv2d, {input({2, 6, 6, 3}), input({3, 3, 3, 4})}, attrs, "y");
           },
           {"bias", "relu()"})

// A graph from another machine: refused when it is planned, never read beyond its end.
TEST(reorder, refuses_packings_of_another_machine) {
  const HostTensor x = random_f32({2, 6, 6, 32}, 1), kernel = random_f32({3, 3, 32, 64}, 2), packed({8}, f32);
  EXPECT_THROW(run_kernel(op_reorder, {kernel}, Attrs(some_reorder(8, 1))), InvalidArgument);
  const ConvOpAttrs attrs{.packing = {{3, 3, 32, 64}, 8, 1}};
  EXPECT_THROW(run_kernel(op_conv2d, {x, packed}, Attrs(attrs)), InvalidArgument);
}

}  // namespace
}  // namespace martello
