// A tensor that an op adds to its result has the bits of an addition after the op, and ReLU those of relu after both.
#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/internal/takes_number.h>
#include <martello/ops/internal/test_conv.h>
#include <martello/ops/linear.h>
#include <martello/ops/matmul.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

using internal::ConvOpAttrs;

constexpr DataFormat kNchw = DataFormat::nchw;

template <class T>
HostTensor sum_of(HostTensor y, const HostTensor& addend, bool relu) {
  for (T& v : y.mutable_data<T>()) {
    v += addend.data<T>()[static_cast<size_t>(&v - y.mutable_data<T>().data())];
    if (relu && v <= 0) v = 0;
  }
  return y;
}
HostTensor sum_of(const HostTensor& y, const HostTensor& addend, bool relu) {
  return y.dtype() == f64 ? sum_of<double>(y, addend, relu) : sum_of<float>(y, addend, relu);
}

struct Call {
  const OpDef& op;
  HostTensors in;
  Attrs attrs;
};

// Every way to run `plain`, then the sum; and the same way to run `sum`, which has one input more.
void expect_sum(const Call& plain, const Call& sum, bool relu, const std::string& label) {
  for (size_t i = 0, count = 1; i < count; ++i)
    for (int threads : {1, 3}) {
      TakesNumber chooser(i);
      const KernelChooserScope scope(&chooser);
      const HostTensors y = run_kernel(plain.op, plain.in, plain.attrs, {.threads = threads});
      const HostTensors together = run_kernel(sum.op, sum.in, sum.attrs, {.threads = threads});
      EXPECT_TRUE(together[0].same_bits(sum_of(y[0], sum.in.back(), relu)))
          << label << ", " << chooser.name << ", " << threads << " threads";
      for (size_t k = 1; k < y.size(); ++k) EXPECT_TRUE(together[k].same_bits(y[k])) << label << " output " << k;
      count = chooser.count;
    }
}

HostTensors with(HostTensors in, HostTensor last) {
  in.push_back(std::move(last));
  return in;
}

void expect_conv_sum(const ConvCase& c, DType dtype, bool has_bias) {
  const Shape y = problem_of(c).y_shape();
  const DType sums = dtype == bf16 ? f32 : dtype;
  HostTensors in = {randn(c.x, 1).cast(dtype), randn(c.kernel, 2).cast(dtype)};
  if (has_bias) in.push_back(randn(Shape(c.kernel[3]), 3).cast(sums));
  ConvOpAttrs attrs{.conv = c.conv, .widen = dtype == bf16};
  const Call plain{op_conv2d, in, Attrs(attrs)};
  for (bool relu : {false, true}) {
    if (relu) attrs.activation = LinearActivation::relu;
    expect_sum(plain, {op_conv2d, with(in, randn(y, 4).cast(sums)), Attrs(attrs)}, relu,
               str("conv2d ", dtype, " ", c.x, c.kernel, has_bias ? " bias" : ""));
  }
}

}  // namespace

// Winograd's algorithm with few channels and many, a product, own loops, and whatever the library has.
TEST(addend, of_every_way_to_convolve) {
  const ConvCase cases[] = {{{2, 14, 13, 17}, {3, 3, 17, 33}},
                            {{1, 24, 24, 96}, {3, 3, 96, 65}},
                            {{3, 7, 5, 32}, {1, 1, 32, 48}},
                            {{2, 9, 9, 3}, {3, 3, 3, 32}, {.stride = 2}},
                            {{2, 32, 9, 8}, {3, 3, 32, 16}, {.data_format = kNchw}},
                            {{2, 6, 6, 6}, {3, 3, 2, 9}, {.dilation = {2, 1}, .groups = 3}}};
  for (const ConvCase& c : cases)
    for (bool has_bias : {false, true})
      for (DType dtype : {f32, f64, bf16})
        if (!has_bias || c.conv.data_format != kNchw || dtype == f64) expect_conv_sum(c, dtype, has_bias);
}

// Small products, large ones with sums of one part and of several, products by halves, batches.
TEST(addend, of_every_way_to_multiply) {
  const Shape factors[][2] = {
      {{5, 3}, {3, 4}},           {{64, 784}, {784, 256}},   {{700, 600}, {600, 900}},
      {{200, 2100}, {2100, 700}}, {{1, 1000}, {1000, 1000}}, {{2, 3, 17}, {17, 19}},
      {{3, 40, 8}, {3, 8, 70}},   {{7, 0}, {0, 4}},          {{0, 3}, {3, 4}},
  };
  for (const auto& [x, w] : factors)
    for (DType dtype : {f32, f64, bf16}) {
      const DType sums = dtype == bf16 ? f32 : dtype;
      const bool widens = dtype == bf16;
      const HostTensors in = {randn(x, 1).cast(dtype), randn(w, 2).cast(dtype)};
      const HostTensor addend = randn(x.with(-1, w[-1]), 3).cast(sums), bias = randn(Shape(w[-1]), 4).cast(sums);
      const Attrs product(MatmulAttrs{.widen = widens});
      const std::string label = str(dtype, " ", x, w);
      expect_sum({op_matmul, in, product}, {op_matmul, with(in, addend), product}, false, label);
      LinearAttrs attrs{.widen = widens};
      const Call plain{op_linear, with(in, bias), Attrs(attrs)};
      for (bool relu : {false, true}) {
        if (relu) attrs.activation = LinearActivation::relu;
        expect_sum(plain, {op_linear, with(plain.in, addend), Attrs(attrs)}, relu, label + " linear");
      }
    }
}

TEST(addend, of_batch_norm) {
  // The last is streamed.
  for (const Shape& x : {Shape(5, 3), Shape(3, 9, 7, 33), Shape(2, 5, 5, 64), Shape(0, 3, 3, 8), Shape(2, 3, 3, 2050),
                         Shape(150000, 48)})
    for (const DataFormat format : {DataFormat::nhwc, kNchw})
      for (const DType dtype : {f32, f64}) {
        if (x[0] > 100 && (dtype == f64 || format == kNchw)) continue;
        const Shape c{x[channel_axis(format, x.rank())]};
        const HostTensors training = {randn(x, 1).cast(dtype), uniform(c, 0.5, 2, 2).cast(dtype),
                                      randn(c, 3).cast(dtype)};
        const HostTensors inference = with(with(training, randn(c, 4).cast(dtype)), uniform(c, 0.5, 2, 5).cast(dtype));
        const HostTensor addend = randn(x, 6).cast(dtype);
        for (bool relu : {false, true}) {
          const BatchNormAttrs plain{.data_format = format}, sum{.data_format = format, .relu = relu};
          const std::string label = str(dtype, " ", x, " ", format);
          expect_sum({op_batch_norm_training, training, Attrs(plain)},
                     {op_batch_norm_training, with(training, addend), Attrs(sum)}, relu, label);
          expect_sum({op_batch_norm_inference, inference, Attrs(plain)},
                     {op_batch_norm_inference, with(inference, addend), Attrs(sum)}, relu, label);
        }
      }
}

// The sum is rounded once, and x may have been.
TEST(addend, of_batch_norm_in_bf16) {
  for (const Shape& x : {Shape(3, 9, 7, 33), Shape(2, 5, 5, 64), Shape(2, 3, 3, 2050)})
    for (bool relu : {false, true}) {
      const Shape c{x[-1]};
      HostTensors in = {randn(x, 1).cast(f32).cast(bf16), uniform(c, 0.5, 2, 2).cast(f32), randn(c, 3).cast(f32)};
      const HostTensor addend = randn(x, 6).cast(f32);
      const HostTensors y = run_kernel(op_batch_norm_training, in, Attrs(BatchNormAttrs{.widen = true}));
      const BatchNormAttrs both{.relu = relu, .narrow = true, .widen = true};
      const HostTensors sum = run_kernel(op_batch_norm_training, with(in, addend), Attrs(both));
      EXPECT_TRUE(sum[0].same_bits(sum_of(y[0], addend, relu).cast(bf16))) << x.str();
    }
}

namespace {

Tensor x(Shape shape, DType dtype = f32) { return placeholder(std::move(shape), dtype, "x"); }
void add(const OpDef& op, const std::vector<Operand>& in, Attrs attrs) {
  add_operation(op, in, std::move(attrs), "node");
}
const Attrs kMatmul(MatmulAttrs{}), kLinear(LinearAttrs{}), kConv(ConvOpAttrs{}), kNorm(BatchNormAttrs{});

}  // namespace

OP_REFUSES(matmul, an_addend_of_another_shape,
           [] {
             add(op_matmul, {x({2, 3}), x({3, 4}), x({2, 5})}, kMatmul);
           },
           {"addend", "[2, 5]", "[2, 4]"})
OP_REFUSES(matmul, an_addend_of_another_dtype,
           [] {
             add(op_matmul, {x({2, 3}), x({3, 4}), x({2, 4}, f64)}, kMatmul);
           },
           {"f64", "f32"})
OP_REFUSES(matmul, an_addend_of_whole_numbers,
           [] {
             add(op_matmul, {x({2, 3}, i32), x({3, 4}, i32), x({2, 4}, i32)}, kMatmul);
           },
           {"i32", "f32"})
OP_REFUSES(linear, two_addends,
           [] {
             add(op_linear, {x({2, 3}), x({3, 4}), x({4}), x({2, 4}), x({2, 4})}, kLinear);
           },
           {"linear", "5"})
OP_REFUSES(conv2d, an_addend_of_another_size,
           [] {
             add(op_conv2d, {x({1, 5, 5, 2}), x({3, 3, 2, 4}), x({1, 5, 4, 4})}, kConv);
           },
           {"addend", "[1, 5, 4, 4]"})
OP_REFUSES(batch_norm_training, an_addend_of_another_shape,
           [] {
             add(op_batch_norm_training, {x({2, 3}), x({3}), x({3}), x({3, 3})}, kNorm);
           },
           {"addend", "[3, 3]", "[2, 3]"})

// Of the graph as it was built.
TEST(addend, has_no_gradient) {
  const auto gradient_of = [](const OpDef& op, const std::vector<Operand>& in, const Attrs& attrs) {
    const Tensor y(add_operation(op, in, attrs, "sum"), 0);
    gradients(y, in[0].tensor());
  };
  expect_refused(
      [&] {
        gradient_of(op_matmul, {x({2, 3}), x({3, 4}), x({2, 4})}, kMatmul);
      },
      {"'sum'", "as it was"}, __FILE__);
  expect_refused(
      [&] {
        gradient_of(op_conv2d, {x({1, 5, 5, 2}), x({3, 3, 2, 4}), x({1, 5, 5, 4})}, kConv);
      },
      {"'sum'", "as it was"}, __FILE__);
  expect_refused(
      [&] {
        gradient_of(op_batch_norm_training, {x({2, 3}), x({3}), x({3}), x({2, 3})}, kNorm);
      },
      {"'sum'", "as it was"}, __FILE__);
}

}  // namespace martello::testing
