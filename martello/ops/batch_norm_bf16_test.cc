// Batch norm that writes bf16: the bits of a cast after it. One that reads bf16: those of a cast before it.
#include <martello/graph/core_ops.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/internal/channel_loops.h>
#include <martello/testing/op_test.h>
#include <martello/testing/run_kernel.h>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace martello::testing {
namespace {

HostTensors numbers(int64_t channels, uint64_t seed, size_t count) {
  HostTensors list;
  for (size_t i = 0; i < count; ++i) list.push_back(uniform({channels}, 0.5, 2, seed + i).cast(f32));
  return list;
}

void expect_rounded(const OpDef& op, const HostTensors& in, BatchNormAttrs attrs, const std::string& what) {
  const HostTensors wide = run_kernel(op, in, Attrs(attrs));
  attrs.narrow = true;
  for (int threads : {1, 2}) {
    const HostTensors narrow = run_kernel(op, in, Attrs(attrs), {.threads = threads});
    EXPECT_EQ(narrow[0].dtype(), bf16);
    EXPECT_TRUE(narrow[0].same_bits(wide[0].cast(bf16))) << op.name << " " << what;
    for (size_t i = 1; i < wide.size(); ++i) EXPECT_TRUE(narrow[i].same_bits(wide[i])) << op.name << " " << what << i;
  }
}

void expect_rounded(const HostTensor& x, bool relu) {
  const int64_t c = x.shape()[-1];
  const HostTensors few = numbers(c, 5, 4);
  const HostTensor dy = randn(x.shape(), 3).cast(f32);
  const std::string what = str(x.shape(), " ", relu, " ");
  const BatchNormAttrs attrs{.relu = relu};
  expect_rounded(op_batch_norm_training, {x, few[0], few[1]}, attrs, what);
  expect_rounded(op_batch_norm_training_grad, {x, few[0], few[1], few[2], few[3], dy}, attrs, what);
  expect_rounded(op_batch_norm_inference, {x, few[0], few[1], few[2], few[3]}, attrs, what);
}

}  // namespace

TEST(batch_norm_bf16, has_the_bits_of_a_cast_after_it) {
  for (const Shape& shape : {Shape(5, 3), Shape(2, 3, 2, 4), Shape(3, 9, 7, 33), Shape(2, 5, 5, 64), Shape(1, 1, 1, 17),
                             Shape(4, 6, 6, 1), Shape(0, 3, 3, 8), Shape(2, 3, 3, 2050)})
    for (bool relu : {false, true}) expect_rounded(randn(shape).cast(f32), relu);
}

// Larger than the last cache, so that results are streamed.
TEST(batch_norm_bf16, streams_what_is_large) { expect_rounded(randn({400000, 48}).cast(f32), true); }

TEST(batch_norm_bf16, keeps_nan) {
  HostTensor x = randn({4, 3}).cast(f32);
  x.set(4, std::numeric_limits<double>::quiet_NaN());
  expect_rounded(x, true);
}

// x is bf16; its copy in f32 has the same numbers.
void expect_widened(const HostTensor& x, BatchNormAttrs attrs) {
  const HostTensors few = numbers(x.shape()[-1], 5, 4);
  const HostTensor dy = randn(x.shape(), 3).cast(f32), copy = x.cast(f32);
  const HostTensors y = run_kernel(op_batch_norm_training, {copy, few[0], few[1]}, Attrs(attrs)),
                    d = run_kernel(op_batch_norm_training_grad, {copy, few[0], few[1], few[2], few[3], dy},
                                   Attrs(attrs));
  attrs.widen = true;
  for (int threads : {1, 2}) {
    const auto same = [&](const OpDef& op, const HostTensors& in, const HostTensors& expected) {
      const HostTensors got = run_kernel(op, in, Attrs(attrs), {.threads = threads});
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(got[i].dtype(), expected[i].dtype());
        EXPECT_TRUE(got[i].same_bits(expected[i])) << op.name << " " << x.shape().str() << " output " << i;
      }
    };
    same(op_batch_norm_training, {x, few[0], few[1]}, y);
    same(op_batch_norm_training_grad, {x, few[0], few[1], few[2], few[3], dy}, d);
  }
}
TEST(batch_norm_bf16, reads_bf16_with_the_bits_of_a_cast_before_it) {
  for (const Shape& shape : {Shape(5, 3), Shape(3, 9, 7, 33), Shape(2, 5, 5, 64), Shape(1, 1, 1, 17), Shape(4, 6, 6, 1),
                             Shape(0, 3, 3, 8), Shape(2, 5, 5, 1000), Shape(2, 3, 3, 2050)})
    for (bool relu : {false, true})
      for (bool narrow : {false, true}) expect_widened(randn(shape).cast(bf16), {.relu = relu, .narrow = narrow});
  expect_widened(randn({400000, 48}).cast(bf16), {.relu = true});
}

TEST(batch_norm_bf16, has_the_same_bits_on_every_instruction_set) {
  const cpu::ColumnBlock b{13, 48, 48, 3};
  const int64_t n = b.rows * b.stride + b.tail;
  const HostTensor x = randn({n}).cast(f32), dy = randn({n}, 2).cast(f32), few = randn({48}, 3).cast(f32);
  const float* p = few.data<float>().data();
  const auto results = [&](const cpu::ColumnLoops<float>& loops) {
    std::vector<uint16_t> r(2 * static_cast<size_t>(n));
    loops.normalize_bf16(x.data<float>().data(), dy.data<float>().data(), r.data(), b, {p, p, p, true}, true);
    loops.gradient_bf16(x.data<float>().data(), dy.data<float>().data(), r.data() + n, b, {p, p, p, true}, {p, p, p},
                        false);
    return r;
  };
  EXPECT_EQ(results(cpu::v2::column_loops_f32), results(cpu::column_loops<float>()));
  if (cpu::host_isa() == cpu::Isa::v2) return;
  EXPECT_EQ(results(cpu::v3::column_loops_f32), results(cpu::column_loops<float>()));
}

OP_REFUSES(batch_norm_training, to_widen_f32,
           [] {
             const Tensor v = placeholder({3}, f32, "v");
             batch_norm_training(placeholder({2, 3}, f32, "x"), v, v, {.widen = true});
           },
           {"f32[2, 3]", "bf16"})
OP_REFUSES(
    batch_norm_training, to_widen_channels_first,
    [] {
      const Tensor v = placeholder({3}, f32, "v");
      batch_norm_training(placeholder({2, 3, 4, 4}, bf16, "x"), v, v, {.data_format = DataFormat::nchw, .widen = true});
    },
    {"widen", "nchw", "cast"})
OP_REFUSES(batch_norm_training, bf16_unless_asked_to_widen,
           [] {
             const Tensor v = placeholder({3}, bf16, "v");
             batch_norm_training(placeholder({2, 3}, bf16, "x"), v, v);
           },
           {"bf16"})
OP_REFUSES(batch_norm_inference, to_widen,
           [] {
             const Tensor v = placeholder({3}, f32, "v");
             batch_norm_inference(placeholder({2, 3}, bf16, "x"), v, v, v, v, {.widen = true});
           },
           {"widen", "cast"})
OP_REFUSES(batch_norm_training, to_narrow_f64,
           [] {
             const Tensor v = placeholder({3}, f64, "v");
             batch_norm_training(placeholder({2, 3}, f64, "x"), v, v, {.narrow = true});
           },
           {"narrow", "f64", "cast"})
OP_REFUSES(
    batch_norm_training, to_narrow_channels_first,
    [] {
      const Tensor v = placeholder({3}, f32, "v");
      batch_norm_training(placeholder({2, 3, 4, 4}, f32, "x"), v, v, {.data_format = DataFormat::nchw, .narrow = true});
    },
    {"narrow", "nchw", "cast"})
OP_REFUSES(batch_norm_inference_grad, to_narrow,
           [] {
             const Tensor v = placeholder({3}, f32, "v"), x = placeholder({2, 3}, f32, "x");
             batch_norm_inference_grad(x, v, v, v, v, x, {.narrow = true});
           },
           {"narrow", "cast"})

}  // namespace martello::testing
