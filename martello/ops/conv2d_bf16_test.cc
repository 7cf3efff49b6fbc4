// Convolutions of bf16 numbers: every product is exact in f32, so the sums are as near as those of f32.
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/kernel_choice.h>
#include <martello/graph/scopes.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/conv_case.h>
#include <martello/ops/internal/conv_library.h>
#include <martello/ops/internal/reorder_attrs.h>
#include <martello/testing/op_test.h>
#include <martello/testing/run_kernel.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace martello {
namespace {

using internal::ConvDirection;
using internal::ConvOpAttrs;
using internal::ConvProblem;
using internal::ReorderAttrs;
using testing::ConvCase;
using testing::problem_of;
using testing::randn;
using testing::run_kernel;

std::vector<ConvCase> cases() {
  return {{{2, 14, 14, 32}, {3, 3, 32, 32}},
          {{1, 9, 9, 16}, {3, 3, 16, 24}},
          {{2, 28, 28, 1}, {3, 3, 1, 32}},
          {{2, 30, 30, 3}, {7, 7, 3, 64}, {.stride = 2}},
          {{3, 11, 13, 17}, {3, 5, 17, 33}},
          {{2, 8, 8, 17}, {1, 1, 17, 1}},
          {{2, 14, 14, 64}, {1, 1, 64, 128}, {.stride = 2}},
          {{2, 14, 12, 48}, {3, 3, 48, 72}, {.stride = {2, 1}, .padding = Pad::valid}},
          {{2, 10, 10, 32}, {3, 3, 32, 16}, {.padding = Padding(0, 2, 1, 0)}},
          {{1, 20, 20, 16}, {3, 3, 16, 16}, {.dilation = 2}},
          {{2, 15, 15, 24}, {3, 3, 24, 40}, {.padding = Pad::valid, .dilation = {1, 3}}},
          {{2, 9, 9, 32}, {3, 3, 16, 64}, {.groups = 2}},
          {{2, 9, 9, 24}, {3, 3, 3, 8}, {.stride = 2, .groups = 8}},
          {{2, 9, 9, 32}, {3, 3, 1, 32}, {.groups = 32}},
          {{2, 9, 9, 8}, {5, 5, 1, 16}, {.groups = 8}},
          {{2, 32, 10, 10}, {3, 3, 32, 64}, {.data_format = DataFormat::nchw}},
          {{2, 17, 7, 9}, {3, 3, 17, 5}, {.stride = 2, .data_format = DataFormat::nchw}},
          {{1, 1, 1, 512}, {1, 1, 512, 64}},
          {{2, 7, 7, 256}, {3, 3, 256, 64}},
          {{0, 8, 8, 32}, {3, 3, 32, 32}},
          {{2, 300, 4, 4}, {290, 1, 4, 8}, {.padding = Pad::valid}}};
}

struct Call {
  const OpDef& op;
  ConvDirection direction;
  HostTensor a, b;  // factors
  ConvOpAttrs attrs;
};

std::vector<Call> calls_of(const ConvCase& c) {
  const HostTensor x = randn(c.x, 1).cast(bf16), kernel = randn(c.kernel, 2).cast(bf16);
  const HostTensor dy = randn(problem_of(c, bf16).y_shape(), 3).cast(bf16);
  ConvOpAttrs attrs{.conv = c.conv, .widen = true};
  std::vector<Call> calls = {{op_conv2d, ConvDirection::forward, x, kernel, attrs}};
  attrs.shape = c.x;
  calls.push_back({op_conv2d_grad_input, ConvDirection::grad_input, dy, kernel, attrs});
  attrs.shape = c.kernel;
  calls.push_back({op_conv2d_grad_kernel, ConvDirection::grad_kernel, x, dy, attrs});
  return calls;
}

std::string text_of(const ConvCase& c, const Call& call, int threads) {
  return str(call.op.name, " ", c.x, " ", c.kernel, " ", threads);
}

HostTensor absolute(HostTensor x) {
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, std::abs(x.at(i)));
  return x;
}

TEST(conv2d_bf16, sums_in_f32) {
  for (const ConvCase& c : cases())
    for (const Call& call : calls_of(c)) {
      ConvOpAttrs exact = call.attrs;
      exact.widen = false;
      const HostTensor a = call.a.cast(f64), b = call.b.cast(f64);
      const HostTensor expected = run_kernel(call.op, {a, b}, Attrs(exact))[0];
      const HostTensor size = run_kernel(call.op, {absolute(a), absolute(b)}, Attrs(exact))[0];
      for (int threads : {1, 2}) {
        const HostTensor y = run_kernel(call.op, {call.a, call.b}, Attrs(call.attrs), {.threads = threads})[0];
        ASSERT_EQ(y.dtype(), f32);
        ASSERT_EQ(y.shape(), expected.shape());
        for (int64_t i = 0; i < y.num_elements(); ++i)
          ASSERT_NEAR(y.at(i), expected.at(i), 1e-6 * size.at(i) + 1e-12) << text_of(c, call, threads) << " " << i;
      }
    }
}

TEST(conv2d_bf16, has_the_same_bits_from_run_to_run) {
  for (const ConvCase& c : cases())
    for (const Call& call : calls_of(c))
      for (int threads : {1, 2}) {
        const auto run = [&] {
          return run_kernel(call.op, {call.a, call.b}, Attrs(call.attrs), {.threads = threads})[0];
        };
        EXPECT_TRUE(run().same_bits(run())) << text_of(c, call, threads);
      }
}

// The library's own choice, also where something else is faster.
class TakesLibrary : public KernelChooser {
 public:
  bool wants_all() const override { return true; }
  size_t choose(const KernelPlan&, std::span<const KernelCandidate> candidates) override {
    const auto found =
        std::find_if(candidates.begin(), candidates.end(), [](const KernelCandidate& c) { return c.name == "oneDNN"; });
    return found == candidates.end() ? 0 : static_cast<size_t>(found - candidates.begin());
  }
};

// The copy into the library's layout rounds as cast does.
TEST(conv2d_bf16, takes_packed_kernels) {
  TakesLibrary chooser;
  const KernelChooserScope scope(&chooser);
  int packed = 0;
  for (const ConvCase& c : cases())
    for (const Call& call : calls_of(c)) {
      const bool is_back = call.direction == ConvDirection::grad_kernel;
      const auto packing =
          internal::find_packing({"test", "reorder"}, problem_of(c, bf16), call.direction, /*threads=*/1);
      if (!packing.is_packed()) continue;
      ++packed;
      const Attrs reorder(ReorderAttrs{call.direction, c.conv, c.x, packing, true});
      ConvOpAttrs attrs = call.attrs;
      attrs.packing = packing;
      const HostTensor expected = run_kernel(call.op, {call.a, call.b}, Attrs(call.attrs))[0];
      if (is_back) {
        const HostTensor y = run_kernel(call.op, {call.a, call.b}, Attrs(attrs))[0];
        EXPECT_TRUE(run_kernel(op_reorder, {y}, reorder)[0].same_bits(expected)) << text_of(c, call, 1);
        continue;
      }
      const HostTensor kernel = randn(c.kernel, 2).cast(f32);
      for (const HostTensor& from : {kernel, kernel.cast(bf16)}) {
        const HostTensor w = run_kernel(op_reorder, {from}, reorder)[0];
        EXPECT_EQ(w.dtype(), bf16);
        EXPECT_TRUE(run_kernel(call.op, {call.a, w}, Attrs(attrs))[0].same_bits(expected)) << text_of(c, call, 1);
      }
    }
  EXPECT_GT(packed, onednn::has_bf16() ? 20 : -1);
}

// Of each forward convolution that the library has: with the kernel as it is, and packed for it.
TEST(conv2d_bf16, has_the_bits_of_a_cast_after_it) {
  int library = 0;
  for (const ConvCase& c : cases()) {
    const Call call = calls_of(c)[0];
    if (!internal::is_for_library(problem_of(c, bf16))) continue;
    ++library;
    ConvOpAttrs attrs = call.attrs;
    attrs.narrow = true;
    for (int threads : {1, 2}) {
      const HostTensor wide = run_kernel(call.op, {call.a, call.b}, Attrs(call.attrs), {.threads = threads})[0];
      const HostTensor y = run_kernel(call.op, {call.a, call.b}, Attrs(attrs), {.threads = threads})[0];
      EXPECT_EQ(y.dtype(), bf16);
      EXPECT_TRUE(y.same_bits(wide.cast(bf16))) << text_of(c, call, threads);
      ConvProblem problem = problem_of(c, bf16);
      problem.is_narrow = true;
      attrs.packing = internal::find_packing({"test", "reorder"}, problem, call.direction, threads);
      if (!attrs.packing.is_packed()) continue;
      const Attrs reorder(ReorderAttrs{call.direction, c.conv, c.x, attrs.packing, true, true});
      const HostTensor w = run_kernel(op_reorder, {call.b}, reorder)[0];
      EXPECT_TRUE(run_kernel(call.op, {call.a, w}, Attrs(attrs), {.threads = threads})[0].same_bits(y))
          << text_of(c, call, threads);
      attrs.packing = {};
    }
  }
  EXPECT_GT(library, onednn::has_bf16() ? 15 : -1);
}
OP_REFUSES(conv2d, to_narrow_f32,
           [] {
             add_op(op_conv2d, {placeholder({1, 4, 4, 8}, f32, "x"), placeholder({1, 1, 8, 8}, f32, "w")},
                    ConvOpAttrs{.narrow = true}, "c");
           },
           {"[conv2d 'c']", "narrow", "widen", "cast"})
// What comes after the sums is added in f32.
OP_REFUSES(conv2d, to_narrow_with_a_bias,
           [] {
             add_op(op_conv2d,
                    {placeholder({2, 8, 8, 16}, bf16, "x"), placeholder({3, 3, 16, 16}, bf16, "w"),
                     placeholder({16}, f32, "b")},
                    ConvOpAttrs{.widen = true, .narrow = true}, "c");
           },
           {"[conv2d 'c']", "narrow", "bias", "cast"})
OP_REFUSES(conv2d, to_narrow_with_an_addend,
           [] {
             add_op(op_conv2d,
                    {placeholder({2, 8, 8, 16}, bf16, "x"), placeholder({3, 3, 16, 16}, bf16, "w"),
                     placeholder({2, 8, 8, 16}, f32, "r")},
                    ConvOpAttrs{.widen = true, .narrow = true}, "c");
           },
           {"[conv2d 'c']", "narrow", "addend", "cast"})
OP_REFUSES(conv2d_grad_input, to_narrow,
           [] {
             add_op(op_conv2d_grad_input, {placeholder({1, 4, 4, 8}, bf16, "dy"), placeholder({1, 1, 8, 8}, bf16, "w")},
                    ConvOpAttrs{.widen = true, .narrow = true}, "c");
           },
           {"[conv2d_grad_input 'c']", "narrow", "cast"})

TEST(conv2d_bf16, adds_its_bias_in_f32) {
  for (const ConvCase& c : cases()) {
    const Call call = calls_of(c)[0];
    const HostTensor bias = randn(Shape(c.kernel[3]), 4).cast(f32);
    const HostTensor plain = run_kernel(call.op, {call.a, call.b}, Attrs(call.attrs))[0];
    const int64_t inner = c.conv.data_format == DataFormat::nhwc ? 1 : plain.shape()[2] * plain.shape()[3];
    for (bool relu : {false, true}) {
      ConvOpAttrs attrs = call.attrs;
      attrs.activation = relu ? LinearActivation::relu : LinearActivation::none;
      const HostTensor y = run_kernel(call.op, {call.a, call.b, bias}, Attrs(attrs))[0];
      for (int64_t i = 0; i < y.num_elements(); ++i) {
        const float sum = static_cast<float>(plain.at(i)) + static_cast<float>(bias.at(i / inner % c.kernel[3]));
        ASSERT_EQ(y.at(i), relu && sum <= 0 ? 0 : sum) << text_of(c, call, 1) << " " << i;
      }
    }
  }
}

TEST(conv2d_bf16, keeps_nan) {
  HostTensor x({1, 6, 6, 32}, f32);
  x.set(0, NAN);
  const HostTensor kernel = HostTensor::full({3, 3, 32, 32}, bf16, 1);
  const HostTensor y = run_kernel(op_conv2d, {x.cast(bf16), kernel}, Attrs(ConvOpAttrs{.widen = true}))[0];
  EXPECT_TRUE(std::isnan(y.at(0)));
  EXPECT_EQ(y.at(y.num_elements() - 1), 0);
}

Tensor input(Shape shape, DType dtype) { return placeholder(std::move(shape), dtype, "x"); }

OP_REFUSES(conv2d, bf16_unless_asked_to_widen,
           [] {
             add_op(op_conv2d, {input({2, 6, 6, 3}, bf16), input({3, 3, 3, 4}, bf16)}, ConvOpAttrs{}, "y");
           },
           {"bf16", "cast"})
OP_REFUSES(conv2d, to_widen_f32,
           [] {
             add_op(op_conv2d, {input({2, 6, 6, 3}, f32), input({3, 3, 3, 4}, bf16)}, ConvOpAttrs{.widen = true}, "y");
           },
           {"bf16", "f32"})
OP_REFUSES(conv2d, a_bias_of_bf16,
           [] {
             add_op(op_conv2d, {input({2, 6, 6, 3}, bf16), input({3, 3, 3, 4}, bf16), input(Shape(4), bf16)},
                    ConvOpAttrs{.widen = true}, "y");
           },
           {"input 2", "f32", "bf16[4]"})
OP_REFUSES(reorder, a_kernel_of_bf16_for_a_convolution_of_f32,
           [] {
             const ReorderAttrs attrs{ConvDirection::forward, {}, {2, 6, 6, 32}, {{3, 3, 32, 64}, 8, 1}};
             add_op(op_reorder, {input({3, 3, 32, 64}, bf16)}, attrs, "r");
           },
           {"f32", "bf16"})

// Winograd's algorithm in f32 beats AVX512_BF16 where there are many channels, but not AMX.
TEST(conv2d_bf16, is_wanted_where_it_is_faster) {
  using internal::gains_by_bf16, onednn::Bf16;
  const auto gains = [](const ConvCase& c, Bf16 library) {
    return gains_by_bf16(problem_of(c, bf16), ConvDirection::forward, library);
  };
  const ConvCase many{{16, 28, 28, 128}, {3, 3, 128, 128}}, few{{16, 28, 28, 32}, {3, 3, 32, 32}},
      strided{{16, 28, 28, 128}, {3, 3, 128, 128}, {.stride = 2}}, shallow{{16, 28, 28, 3}, {3, 3, 3, 64}};
  EXPECT_EQ(gains(many, Bf16::native), cpu::host_isa() == cpu::Isa::v2);
  EXPECT_TRUE(gains(many, Bf16::tiles));
  for (const Bf16 library : {Bf16::native, Bf16::tiles}) {
    EXPECT_TRUE(gains(few, library));
    EXPECT_TRUE(gains(strided, library));
    EXPECT_FALSE(gains(shallow, library));
  }
}

}  // namespace
}  // namespace martello
