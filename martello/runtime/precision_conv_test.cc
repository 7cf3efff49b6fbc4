// Training a small convolutional net with products in bf16: near f32, variables f32, the same bits from run to run and
// without fusion.
#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/ops/activation.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/binary.h>
#include <martello/ops/conv2d.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reduce.h>
#include <martello/ops/sparse_softmax_cross_entropy.h>
#include <martello/ops/variable.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/internal/session_impl.h>
#include <martello/runtime/internal/test_training.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace martello {
namespace {

using testing::expect_steady_bits;
using testing::train;
using testing::Trained;
using testing::Training;

constexpr int64_t kBatch = 8, kSize = 12, kClasses = 10;
constexpr Precision kBf16 = Precision::bf16;

class PrecisionConvTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!onednn::has_bf16()) GTEST_SKIP() << "needs AVX-512";
  }
};

struct Model {
  Graph graph;
  Tensor x, label, images, loss;
  TensorList gradients;
  Operation train;
};

Tensor conv(const std::string& name, Tensor x, int64_t filters, Conv2DAttrs attrs = {}) {
  VariableScope scope(name);
  return conv2d(x, get_variable("W", {.shape = {3, 3, x.dim(3) / attrs.groups, filters}, .initializer = he_normal()}),
                attrs);
}

Tensor norm(const std::string& name, Tensor x) {
  VariableScope scope(name);
  const auto gamma = get_variable("gamma", {.shape = {x.dim(3)}, .initializer = constant_init(1)});
  return batch_norm_training(x, gamma, get_variable("beta", {.shape = {x.dim(3)}, .initializer = zeros()})).y;
}

// Of each kind: an input of few channels, batch norm with relu, a shortcut, a bias, a stride, depthwise and transposed.
Model build() {
  GraphScope g;
  Model m;
  m.graph = g.graph();
  m.x = placeholder({kUnknown, kSize, kSize, 3}, f32, "x");
  m.label = placeholder({kUnknown}, i32, "label");
  Tensor h = relu(norm("n0", conv("c0", m.x, 32)));
  h = relu(norm("n1", conv("c1", h, 32)) + h);
  const auto bias = get_variable("bias", {.shape = {48}, .initializer = constant_init(0.1)});
  h = relu(conv("c2", h, 48, {.stride = 2}) + bias);
  h = relu(conv("c3", h, 48, {.groups = 48}));
  const auto up = get_variable("up", {.shape = {3, 3, 32, 48}, .initializer = he_normal()});
  m.images = conv2d_transpose(h, up, {.stride = 2});
  h = reduce_mean(relu(m.images), {.axes = {1, 2}});
  const auto w = get_variable("w", {.shape = {32, kClasses}, .initializer = he_normal()});
  m.loss = reduce_mean(sparse_softmax_cross_entropy(matmul(h, w), m.label));
  m.gradients = gradients(m.loss, {g.graph().get_tensor("c0/W"), g.graph().get_tensor("c1/W"),
                                   g.graph().get_tensor("c2/W"), g.graph().get_tensor("up")});
  m.train = Adam(3e-3).minimize(m.loss);
  return m;
}

Feeds feeds_of(const Model& m, int64_t batch = kBatch) {
  HostTensor x({batch, kSize, kSize, 3}, f32), label({batch}, i32);
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, static_cast<double>(i * 37 % 101) / 50 - 1);
  for (int64_t i = 0; i < batch; ++i) label.set(i, static_cast<double>(i * 3 % kClasses));
  return {{m.x, x}, {m.label, label}};
}

Training training(const Model& m) {
  return {m.graph, m.loss, m.train, feeds_of(m), {"c0/W", "c1/W", "c2/W", "c3/W", "up", "n1/gamma", "bias"}};
}

TEST_F(PrecisionConvTest, trains_as_f32_does) {
  const Training t = training(build());
  const Trained exact = train(t, {}, 30), rounded = train(t, {.precision = kBf16}, 30);
  double difference = 0;
  for (size_t i = 0; i < exact.losses.size(); ++i) difference += std::abs(rounded.losses[i] - exact.losses[i]);
  EXPECT_LT(difference / static_cast<double>(exact.losses.size()), 0.05);
  for (const Trained& r : {exact, rounded}) EXPECT_LT(r.losses.back(), 0.5 * r.losses.front());
  EXPECT_NE(rounded.losses, exact.losses);
  for (const HostTensor& w : rounded.weights) EXPECT_EQ(w.dtype(), f32);
  EXPECT_FALSE(rounded.weights[1].same_bits(rounded.weights[1].cast(bf16).cast(f32)));
}

double norm_of(const HostTensor& x) {
  double sum = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i) sum += x.at(i) * x.at(i);
  return std::sqrt(sum);
}

TEST_F(PrecisionConvTest, gradients_are_near_those_of_f32) {
  const Model m = build();
  const HostTensors exact = Session(m.graph).run(m.gradients, feeds_of(m));
  const HostTensors rounded = Session(m.graph, {.precision = kBf16}).run(m.gradients, feeds_of(m));
  for (size_t i = 0; i < exact.size(); ++i) {
    HostTensor difference = exact[i];
    for (int64_t k = 0; k < difference.num_elements(); ++k) difference.set(k, exact[i].at(k) - rounded[i].at(k));
    EXPECT_EQ(rounded[i].dtype(), f32);
    EXPECT_LT(norm_of(difference), 0.15 * norm_of(exact[i])) << i;  // rounding turns some of the ReLUs
    EXPECT_GT(norm_of(difference), 0) << i;                         // or nothing was rounded
  }
}

TEST_F(PrecisionConvTest, keeps_its_bits_from_run_to_run_and_without_fusion_and_layouts) {
  expect_steady_bits(training(build()), kBf16, {"fuse", "assign_layout"}, 4);
}

TEST_F(PrecisionConvTest, takes_one_image_and_none) {
  const Model m = build();
  Session s(m.graph, {.precision = kBf16});
  EXPECT_TRUE(std::isfinite(s.run(m.loss, feeds_of(m, 1))[0].at(0)));
  EXPECT_EQ(s.eval(m.images, feeds_of(m, 0)).shape(), Shape(0, kSize, kSize, 32));
}

// But for those of batch norms that something else reads in f32.
TEST_F(PrecisionConvTest, casts_no_activation_by_itself) {
  const Model m = build();
  Session s(m.graph, {.precision = kBf16});
  const std::string text = s.plan_report(m.train, feeds_of(m)).graph_text;
  EXPECT_NE(text.find("narrow=true"), std::string::npos);
  EXPECT_NE(text.find("-> (%gradients_1/relu_4_grad/relu_grad/bf16)"), std::string::npos) << text;
  int casts = 0;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with(" ") || line.find(" = cast(") == std::string::npos) continue;
    EXPECT_NE(line.find("= cast(%batch_norm"), std::string::npos) << line;
    ++casts;
  }
  EXPECT_EQ(casts, 2);
}

// Its result is not rounded before the bias is added, whoever adds it.
TEST_F(PrecisionConvTest, batch_norm_reads_a_convolution_with_a_bias) {
  for (const int64_t window : {1, 3}) {
    const GraphScope scope;
    const Tensor x = placeholder({4, kSize, kSize, 32}, f32, "x");
    const auto w = get_variable("W", {.shape = {window, window, 32, 64}, .initializer = he_normal()});
    const auto bias = get_variable("b", {.shape = {64}, .initializer = he_normal()});
    const Tensor y = norm("n", conv2d(x, w) + bias);
    HostTensor image(x.shape(), f32);
    for (int64_t i = 0; i < image.num_elements(); ++i) image.set(i, static_cast<double>(i * 37 % 101) / 50 - 1);
    const auto value = [&](std::vector<std::string> disabled) {
      return Session(scope.graph(), {.disabled_passes = std::move(disabled), .precision = kBf16}).eval(y, {{x, image}});
    };
    EXPECT_TRUE(value({}).same_bits(value({"fuse"}))) << window;
  }
}

// A plan that writes nothing keeps the rounded kernel until the variable changes.
TEST_F(PrecisionConvTest, keeps_rounded_kernels_as_derived_forms) {
  const GraphScope scope;
  const Shape kernel(3, 3, 32, 64), images(2, 8, 8, 32);
  const Tensor x = placeholder(images, f32, "x");
  const Variable w = get_variable("W", {.shape = kernel, .initializer = constant_init(1)});
  const Tensor y = conv2d(x, w);
  Session s(Graph::current(), {.precision = kBf16});
  const HostTensor ones = HostTensor::full(images, f32, 1);
  EXPECT_EQ(s.eval(y, {{x, ones}}).at(0), 4 * 32);
  const Plan& plan = *s.impl().get_plan(s.impl().resolve({y}, {x}), {images});
  ASSERT_EQ(plan.derived.size(), 1u);
  EXPECT_EQ(plan.derived[0]->buffer.size(), kernel.num_elements() * 2);
  std::memset(plan.derived[0]->buffer.data(), 0, static_cast<size_t>(plan.derived[0]->buffer.size()));
  EXPECT_EQ(s.eval(y, {{x, ones}}).at(0), 0);
  s.set(w, HostTensor::full(kernel, f32, 2));
  EXPECT_EQ(s.eval(y, {{x, ones}}).at(0), 8 * 32);
}

}  // namespace
}  // namespace martello
