// Training with products in bf16: near f32, variables f32, the same bits from run to run and without fusion.
#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reduce.h>
#include <martello/ops/sparse_softmax_cross_entropy.h>
#include <martello/ops/variable.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/internal/test_training.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace martello {
namespace {

using testing::expect_same;
using testing::expect_steady_bits;
using testing::train;
using testing::Trained;
using testing::Training;

constexpr int64_t kBatch = 128, kIn = 96, kHidden = 160, kClasses = 64;
constexpr Precision kBf16 = Precision::bf16;

class PrecisionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (onednn::has_bf16()) return;
    EXPECT_THROW(Session(Graph(), {.precision = kBf16}), InvalidArgument);
    GTEST_SKIP() << "needs AVX-512; refused, as it should be";
  }
};

struct Model {
  Graph graph;
  Tensor x, label, hidden, loss;
  Operation train;
};

Model build() {
  GraphScope g;
  Model m;
  m.graph = g.graph();
  m.x = placeholder({kUnknown, kIn}, f32, "x");
  m.label = placeholder({kUnknown}, i32, "label");
  auto w0 = get_variable("w0", {.shape = {kIn, kHidden}}), w1 = get_variable("w1", {.shape = {kHidden, kClasses}});
  auto b0 = get_variable("b0", {.shape = {kHidden}, .initializer = zeros()});
  m.hidden = relu(matmul(m.x, w0) + b0);
  m.loss = reduce_mean(sparse_softmax_cross_entropy(matmul(m.hidden, w1), m.label));
  m.train = Adam(1e-2).minimize(m.loss);
  return m;
}

Feeds feeds_of(const Model& m) {
  HostTensor x({kBatch, kIn}, f32), label({kBatch}, i32);
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, static_cast<double>(i * 37 % 101) / 50 - 1);
  for (int64_t i = 0; i < kBatch; ++i) label.set(i, static_cast<double>(i * 5 % kClasses));
  return {{m.x, x}, {m.label, label}};
}

Training training(const Model& m) { return {m.graph, m.loss, m.train, feeds_of(m), {"w0", "w1", "b0"}}; }

TEST_F(PrecisionTest, products_are_within_the_rounding_of_their_factors) {
  const Model m = build();
  Session exact(m.graph), rounded(m.graph, {.precision = kBf16});
  const HostTensor w = exact.get("w0"), x = feeds_of(m)[0].value;
  rounded.set("w0", w);
  const HostTensor y = rounded.eval(m.hidden, {{m.x, x}});
  double largest = 0;
  for (int64_t i = 0; i < kBatch; ++i)
    for (int64_t j = 0; j < kHidden; ++j) {
      double sum = 0, size = 0;
      for (int64_t p = 0; p < kIn; ++p) {
        sum += x.at(i * kIn + p) * w.at(p * kHidden + j);
        size += std::abs(x.at(i * kIn + p) * w.at(p * kHidden + j));
      }
      const double error = std::abs(y.at(i * kHidden + j) - std::max(sum, 0.0));
      ASSERT_LE(error, size / 128);  // two factors, each within 2^-9 of itself, and the sum
      largest = std::max(largest, error);
    }
  EXPECT_GT(largest, 1e-5);  // or nothing was rounded
}

TEST_F(PrecisionTest, trains_as_f32_does) {
  const Training t = training(build());
  const Trained exact = train(t, {}, 40), rounded = train(t, {.precision = kBf16}, 40);
  EXPECT_LT(exact.losses.back(), 0.5 * exact.losses.front());
  for (size_t i = 0; i < exact.losses.size(); ++i)
    EXPECT_NEAR(rounded.losses[i], exact.losses[i], 0.05) << "step " << i;
  EXPECT_NE(rounded.losses, exact.losses);
}

TEST_F(PrecisionTest, variables_stay_f32) {
  const Model m = build();
  const Trained t = train(training(m), {.precision = kBf16}, 1);
  for (const HostTensor& w : t.weights) EXPECT_EQ(w.dtype(), f32);
  EXPECT_FALSE(t.weights[0].same_bits(t.weights[0].cast(bf16).cast(f32)));
  Session s(m.graph, {.precision = kBf16});
  const HostTensor before = s.get("w0");
  s.run(m.loss, feeds_of(m));
  EXPECT_TRUE(s.get("w0").same_bits(before));
}

TEST_F(PrecisionTest, keeps_its_bits_from_run_to_run_and_without_fusion) {
  expect_steady_bits(training(build()), kBf16, {"fuse"}, 5);
}

TEST_F(PrecisionTest, switched_off_is_f32) {
  const Training t = training(build());
  expect_same(train(t, {}, 3), train(t, {.disabled_passes = {"lower_precision"}, .precision = kBf16}, 3));
}

TEST_F(PrecisionTest, keeps_nan) {
  const Model m = build();
  Session s(m.graph, {.precision = kBf16});
  HostTensor x({kBatch, kIn}, f32);
  x.set(3, NAN);
  const HostTensor y = s.eval(m.hidden, {{m.x, x}});
  EXPECT_TRUE(std::isnan(y.at(0)));
  EXPECT_EQ(y.at(kHidden), 0);
}

TEST_F(PrecisionTest, the_report_shows_casts_and_the_pass) {
  const Model m = build();
  Session s(m.graph, {.precision = kBf16});
  const PlanReport report = s.plan_report(m.train, feeds_of(m));
  const auto is_it = [](const PassTime& p) { return p.pass == "lower_precision" && p.changed; };
  EXPECT_TRUE(std::any_of(report.passes.begin(), report.passes.end(), is_it));
  EXPECT_NE(report.graph_text.find("widen=true"), std::string::npos);
}

// What a model may write itself: factors of bf16, gradients of bf16.
TEST(widen, has_gradients) {
  GraphScope g;
  auto a = placeholder({2, 2}, bf16, "a"), b = placeholder({2, 2}, bf16, "b");
  auto y = matmul(a, b, {.widen = true});
  EXPECT_EQ(y.dtype(), f32);
  const TensorList d = gradients(reduce_sum(y), {a, b});
  const HostTensor av = HostTensor::of<float>({1, 2, 3, 4}).reshaped({2, 2}).cast(bf16);
  const HostTensor bv = HostTensor::of<float>({5, 6, 7, 8}).reshaped({2, 2}).cast(bf16);
  const HostTensors got = Session(g.graph()).run(d, {{a, av}, {b, bv}});
  const double da[] = {11, 15, 11, 15}, db[] = {4, 4, 6, 6};
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(got[0].dtype(), bf16);
    EXPECT_EQ(got[0].at(i), da[i]);
    EXPECT_EQ(got[1].at(i), db[i]);
  }
}

}  // namespace
}  // namespace martello
