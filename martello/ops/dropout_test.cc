#include <martello/autodiff/gradients.h>
#include <martello/base/philox.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/boolean_mask.h>
#include <martello/ops/dropout.h>
#include <martello/ops/internal/dropout_loops.h>
#include <martello/ops/internal/test_images.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>
#include <martello/testing/run_kernel.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

constexpr int64_t kKey = 0x1234567890abcdef;

HostTensor counter(int64_t hooked = 0, int64_t plain = 0) { return HostTensor::of<int64_t>({hooked, plain}); }

// Whether element i of a sample is dropped in a run of the plain stream, by one Philox call for each element.
bool is_dropped(int64_t sample, int64_t i, double rate, uint32_t run) {
  const uint32_t block = static_cast<uint32_t>(i / 64 * 16 + i % 16);
  const auto words = Philox::block({block, static_cast<uint32_t>(sample), run, 1u << 31},
                                   {static_cast<uint32_t>(kKey), static_cast<uint32_t>(kKey >> 32)});
  return (words[static_cast<size_t>(i % 64 / 16)] >> 1) < rate * 0x1p31;
}

HostTensors naive_dropout(const HostTensors& in, double rate) {
  const HostTensor& x = in[1];
  const int64_t row = x.shape().rank() > 0 ? x.shape().num_elements(1, x.shape().rank()) : 1;
  HostTensor y(x.shape(), x.dtype());
  for (int64_t i = 0; i < x.num_elements(); ++i)
    y.set(i, is_dropped(i / row, i % row, rate, static_cast<uint32_t>(in[0].at(1))) ? 0 : x.at(i) / (1 - rate));
  return {y};
}

// The counter is fed, so that every run drops the same.
OpCase row(std::string label, HostTensor x, double rate) {
  return {.label = std::move(label),
          .inputs = {counter(3, 7), std::move(x)},
          .build =
              [=](TensorList in) {
                return TensorList{add_op(op_dropout, {in[0], in[1]}, DropoutAttrs{rate, kKey}, "d")};
              },
          .reference = [=](const HostTensors& in) { return naive_dropout(in, rate); },
          .second_order = true,
          .unknown_shapes = false};
}

OP_TEST(dropout, row("rows", randn({9, 40}), 0.5), row("longer rows", randn({3, 150}), 0.25),
        row("one vector", randn({70}), 0.75), row("scalar", randn({}), 0.1), row("image", randn({2, 5, 7, 3}), 0.3),
        row("rank 6", randn({2, 1, 3, 2, 2, 3}), 0.5), row("many rows", randn({600, 65}), 0.125),
        row("nothing", randn({0, 4}), 0.5), row("empty rows", randn({4, 0}), 0.5), row("rate 0", randn({4, 9}), 0),
        {.label = "of a placeholder without sizes",
         .inputs = {randn({4, 9})},
         .build = [](TensorList x) { return TensorList{dropout(x[0], {.rate = 0})}; },
         .reference = [](const HostTensors& in) { return in; }});

const OpTestRows image_drop_rows("dropout", __FILE__, __LINE__, image_rows<double>({0.25, 0.5, 0.9, 0.1}, row));

HostTensor drop(const HostTensor& x, double rate, KernelOptions options = {}, HostTensor count = counter()) {
  return run_kernel(op_dropout, {count, x}, Attrs(DropoutAttrs{rate, kKey}), options)[0];
}

TEST(dropout, drops_the_asked_part_and_keeps_the_mean) {
  for (const DType dtype : {f32, f64})
    for (const double rate : {0.01, 0.1, 0.5, 0.9}) {
      const HostTensor y = drop(HostTensor::full({300, 1001}, dtype, 1), rate);
      double zeros = 0, sum = 0;
      for (int64_t i = 0; i < y.num_elements(); ++i) zeros += y.at(i) == 0, sum += y.at(i);
      const double n = static_cast<double>(y.num_elements()), deviation = std::sqrt(rate * (1 - rate) / n);
      EXPECT_NEAR(zeros / n, rate, 4 * deviation);
      EXPECT_NEAR(sum / n, 1, 4 * deviation / (1 - rate));
    }
}

TEST(dropout, gives_the_same_bits_however_work_is_cut) {
  const HostTensor x = randn({3000, 13}).cast(f32), whole = drop(x, 0.5);
  for (const int threads : {2, 4}) EXPECT_TRUE(whole.same_bits(drop(x, 0.5, {.threads = threads})));
  for (int64_t part = 0; part < 3; ++part) {
    HostTensor third({1000, 13}, f32);
    for (int64_t i = 0; i < 13000; ++i) third.set(i, x.at(part * 13000 + i));
    const HostTensor y = drop(third, 0.5, {.params = {.first_sample = part * 1000}});
    for (int64_t i = 0; i < 13000; ++i) ASSERT_EQ(y.at(i), whole.at(part * 13000 + i));
  }
}

TEST(dropout, has_the_same_bits_at_every_level) {
  const cpu::DropoutLoops* levels[] = {&cpu::v2::dropout_loops, &cpu::v3::dropout_loops, &cpu::v4::dropout_loops};
  const std::vector<float> x(70 * 161, 3);
  std::vector<float> expected;
  for (int level = 0; level <= static_cast<int>(cpu::host_isa()); ++level) {
    std::vector<float> y(x.size());
    const cpu::RandomTask random{{7, 8}, 3, 0, (int64_t{1} << 33) + 5, 161, 0, 70 * 3, 0, 0, 0};
    levels[level]->run_f32({random, 1u << 30, 1.5f, x.data(), y.data()});
    if (level == 0) expected = y;
    EXPECT_EQ(y, expected) << "level " << level;
  }
}

TEST(dropout, differs_by_run_stream_sample_and_key) {
  const HostTensor x = HostTensor::full({2, 256}, f32, 1), y = drop(x, 0.5);
  EXPECT_FALSE(y.same_bits(drop(x, 0.5, {}, counter(1))));
  EXPECT_FALSE(y.same_bits(drop(x, 0.5, {}, counter(int64_t{1} << 32))));
  EXPECT_FALSE(y.same_bits(drop(x, 0.5, {.params = {.stream = 1}})));
  EXPECT_FALSE(y.same_bits(drop(x, 0.5, {.params = {.first_sample = 2}})));
  EXPECT_FALSE(y.same_bits(drop(x, 0.5, {.params = {.first_sample = int64_t{1} << 32}})));
  EXPECT_FALSE(y.same_bits(run_kernel(op_dropout, {counter(), x}, Attrs(DropoutAttrs{0.5, kKey + 1}))[0]));
}

// What is dropped is 0 whatever it was; what is kept stays NaN.
TEST(dropout, drops_nan) {
  const HostTensor y = drop(HostTensor::full({4, 100}, f32, NAN), 0.5);
  int64_t zeros = 0;
  for (int64_t i = 0; i < 400; ++i) zeros += y.at(i) == 0;
  EXPECT_GT(zeros, 150);
  EXPECT_LT(zeros, 250);
}

TEST(dropout, drops_the_same_in_its_gradient_and_something_else_in_the_next_run) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 50}, f32, "x"), y = dropout(x, {.rate = 0.4});
  const Tensor dx = gradients({y}, {x})[0];
  Session session(scope.graph());
  const HostTensor ones = HostTensor::full({30, 50}, f32, 1);
  const HostTensors first = session.run({y, dx}, {{x, ones}}), second = session.run({y, dx}, {{x, ones}});
  EXPECT_TRUE(first[0].same_bits(first[1]));
  EXPECT_TRUE(second[0].same_bits(second[1]));
  EXPECT_FALSE(first[0].same_bits(second[0]));
  Session other(scope.graph());
  EXPECT_TRUE(other.run({y}, {{x, ones}})[0].same_bits(first[0]));
}

TEST(dropout, keeps_two_ops_apart_and_takes_rows_that_depend_on_data) {
  GraphScope scope;
  const Tensor mask = placeholder({9}, boolean, "mask");
  const Tensor x = boolean_mask(constant(HostTensor::full({9, 64}, f32, 1)), mask);
  const Tensor a = dropout(x), b = dropout(x);
  Session session(scope.graph());
  const HostTensors out = session.run({a, b}, {{mask, booleans({9}, 3)}});
  EXPECT_LT(out[0].shape()[0], 9);
  EXPECT_EQ(out[0].shape(), out[1].shape());
  EXPECT_FALSE(out[0].same_bits(out[1]));
}

TEST(dropout, at_rate_0_has_no_counter) {
  GraphScope scope;
  EXPECT_STREQ(dropout(placeholder({3}, f32, "x"), {.rate = 0}).node()->def->name, "identity");
}

OP_REFUSES(dropout, everything_dropped, [] { dropout(placeholder({2}, f32, "x"), {.rate = 1}); },
           {"dropout", "rate 1", "[0, 1)"})
OP_REFUSES(dropout, negative_rate, [] { dropout(placeholder({2}, f32, "x"), {.rate = -0.5}); }, {"rate -0.5"})
OP_REFUSES(dropout, rate_nan, [] { dropout(placeholder({2}, f32, "x"), {.rate = NAN}); }, {"rate nan"})
OP_REFUSES(dropout, integers, [] { dropout(placeholder({2}, i32, "x")); }, {"f32, f64", "i32"})

}  // namespace
}  // namespace martello::testing
