#include <gtest/gtest.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/linear.h>
#include <martello/ops/matmul.h>
#include <martello/testing/op_test.h>
#include <martello/testing/run_kernel.h>

#include <array>
#include <cmath>

namespace martello {
namespace {

using testing::randn;
using testing::run_kernel;

constexpr LinearActivation kRelu = LinearActivation::relu;

HostTensor add_bias(HostTensor y, const HostTensor& b, bool relu) {
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const double v = y.dtype() == f32 ? static_cast<float>(y.at(i)) + static_cast<float>(b.at(i % b.num_elements()))
                                      : y.at(i) + b.at(i % b.num_elements());
    y.set(i, relu && !(v > 0) && !std::isnan(v) ? 0 : v);
  }
  return y;
}

testing::OpCase row(std::string label, Shape x, Shape w, LinearAttrs attrs = {}) {
  const int64_t n = w[attrs.transpose_w ? -2 : -1];
  return {.label = std::move(label),
          .inputs = {randn(x, 1), randn(w, 2), randn({n}, 3)},
          .build = [=](TensorList t) { return TensorList{linear(t[0], t[1], t[2], attrs)}; },
          .reference =
              [=](const HostTensors& in) {
                const Attrs flags(MatmulAttrs{attrs.transpose_x, attrs.transpose_w});
                const HostTensor y = run_kernel(op_matmul, {in[0].cast(f64), in[1].cast(f64)}, flags)[0];
                return HostTensors{add_bias(y, in[2].cast(f64), attrs.activation == kRelu)};
              },
          .second_order = true,
          .tolerance = 1e-4};
}

OP_TEST(linear, row("plain", {5, 3}, {3, 4}), row("relu", {5, 3}, {3, 4}, {.activation = kRelu}),
        row("TN", {3, 5}, {3, 4}, {.transpose_x = true}),
        row("NT", {5, 3}, {4, 3}, {.transpose_w = true, .activation = kRelu}), row("TT", {3, 5}, {4, 3}, {true, true}),
        row("batch", {2, 5, 3}, {3, 4}, {.activation = kRelu}), row("odd", {7, 9}, {9, 19}),
        row("no rows", {0, 3}, {3, 4}), row("sums over nothing", {5, 0}, {0, 4}));

// What fusion promises. Library and own sizes; oneDNN does bias and ReLU after the whole sum.
TEST(linear, has_the_bits_of_the_three_ops) {
  const int64_t sizes[][3] = {{32, 16, 64},    {64, 784, 256}, {64, 256, 10},  {1, 1000, 1000}, {256, 512, 512},
                              {128, 1152, 30}, {7, 2049, 129}, {300, 70, 333}, {512, 4096, 17}};
  for (const auto& [m, k, n] : sizes)
    for (bool transpose : {false, true})
      for (int threads : {1, 2}) {
        const HostTensor x = randn({m, k}, 1).cast(f32), b = randn({n}, 3).cast(f32);
        const HostTensor w = randn(transpose ? Shape(n, k) : Shape(k, n), 2).cast(f32);
        const testing::KernelOptions options{.threads = threads};
        const HostTensor y = run_kernel(op_matmul, {x, w}, Attrs(MatmulAttrs{false, transpose}), options)[0];
        for (bool relu : {false, true}) {
          const LinearAttrs attrs{.transpose_w = transpose, .activation = relu ? kRelu : LinearActivation::none};
          const HostTensor fused = run_kernel(op_linear, {x, w, b}, Attrs(attrs), options)[0];
          EXPECT_TRUE(fused.same_bits(add_bias(y, b, relu)))
              << m << "x" << k << "x" << n << (transpose ? " NT" : " NN");
        }
      }
}

// NaN passes through ReLU and infinities stay, whichever kernel runs.
TEST(linear, keeps_non_finite_values) {
  for (int64_t n : {4, 1000}) {
    HostTensor x({300, 8}, f32), w = HostTensor::full({8, n}, f32, 1), b({n}, f32);
    x.set(0, NAN);
    x.set(8, INFINITY);
    x.set(16, -INFINITY);
    const HostTensor y = run_kernel(op_linear, {x, w, b}, Attrs(LinearAttrs{.activation = kRelu}))[0];
    EXPECT_EQ(y.at(n), INFINITY);
    EXPECT_EQ(y.at(2 * n), 0);
    EXPECT_TRUE(std::isnan(y.at(0))) << n;
  }
}

TEST(linear, widens_bf16_with_the_bits_of_the_three_ops) {
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{32, 16, 64}, {64, 784, 256}, {300, 70, 333}}) {
    const HostTensor x = randn({m, k}, 1).cast(bf16), w = randn({k, n}, 2).cast(bf16), b = randn({n}, 3).cast(f32);
    const HostTensor y = run_kernel(op_matmul, {x, w}, Attrs(MatmulAttrs{.widen = true}))[0];
    const LinearAttrs attrs{.activation = kRelu, .widen = true};
    EXPECT_TRUE(run_kernel(op_linear, {x, w, b}, Attrs(attrs))[0].same_bits(add_bias(y, b, true))) << m;
  }
}

Tensor x(Shape shape, DType dtype = f32) { return placeholder(std::move(shape), dtype, "x"); }
OP_REFUSES(linear, a_bias_of_another_size, [] { linear(x({2, 3}), x({3, 4}), x({5})); }, {"4 columns", "5 numbers"})
OP_REFUSES(linear, a_bias_matrix, [] { linear(x({2, 3}), x({3, 4}), x({1, 4})); }, {"rank 1", "[1, 4]"})
OP_REFUSES(linear, whole_numbers, [] { linear(x({2, 3}, i32), x({3, 4}, i32), x({4}, i32)); }, {"i32", "f32 or f64"})
OP_REFUSES(linear, a_narrow_bias,
           [] {
             linear(x({2, 3}, bf16), x({3, 4}, bf16), x({4}, bf16), {.widen = true});
           },
           {"b", "bf16", "f32"})
OP_REFUSES(linear, a_bias_of_another_dtype, [] { linear(x({2, 3}), x({3, 4}), x({4}, f64)); }, {"f64", "f32"})

}  // namespace
}  // namespace martello
