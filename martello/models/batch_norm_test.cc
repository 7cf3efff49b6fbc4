#include <martello/models/batch_norm.h>

#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/models/internal/batch_norm_test.h>
#include <martello/models/pooling.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

using namespace internal;

TEST(BatchNorm, has_the_variables_of_checkpoints) {
  GraphScope g;
  TowerContext tower("", true);
  const auto y = batch_norm("bn", placeholder({kUnknown, 4, 4, 3}, f32, "x"));
  EXPECT_EQ(y.name(), "bn/output");
  std::vector<std::string> names;
  for (const auto& [name, v] : y.variables()) {
    names.push_back(v.name());
    EXPECT_EQ(v.shape(), Shape(3));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"bn/beta", "bn/gamma", "bn/mean/EMA", "bn/variance/EMA"}));
  EXPECT_EQ(y.variables()["mean/EMA"].name(), "bn/mean/EMA");
  EXPECT_EQ(trainable_variables().size(), 2u);
  EXPECT_EQ(g.graph().collections().get(kModelVariables).size(), 2u);
}

TEST(BatchNorm, leaves_out_what_is_switched_off) {
  GraphScope g;
  TowerContext tower("", true);
  const Tensor x = constant(shifted({4, 3}));
  EXPECT_EQ(batch_norm("a", x, {.center = false}).variables().size(), 3u);
  const auto y = batch_norm("b", x, {.center = false, .scale = false});
  EXPECT_EQ(y.variables().size(), 2u);
  expect_normalized(Session().eval(y), shifted({4, 3}), naive_stats(shifted({4, 3}), 3), 1e-5);
}

TEST(BatchNorm, normalizes_matrices_and_keeps_the_biased_variance) {
  GraphScope g;
  TowerContext tower("", true);
  const HostTensor x = shifted({10, 3});
  const auto y = batch_norm("bn", constant(x), {.momentum = 0.8, .epsilon = 1e-7});
  Session s;
  expect_normalized(s.eval(y), x, naive_stats(x, 3), 1e-7);
  EXPECT_EQ(updates().size(), 2u);
  run_updates(s);
  expect_averages(s, naive_stats(x, 3), 0.8);
}

TEST(BatchNorm, normalizes_images_and_keeps_the_unbiased_variance) {
  for (bool is_known : {true, false}) {
    GraphScope g;
    TowerContext tower("", true);
    const HostTensor x = shifted({2, 2, 3, 3});
    const Tensor in = is_known ? constant(x) : placeholder({kUnknown, kUnknown, kUnknown, 3}, f64, "x");
    const auto y = batch_norm("bn", in, {.epsilon = 1e-9});
    Session s;
    const Feeds feeds = is_known ? Feeds{} : Feeds{{"x", x}};
    std::vector<Fetch> fetches = {y};
    for (const Operation& u : updates()) fetches.push_back(u);
    expect_normalized(s.run(fetches, feeds)[0], x, naive_stats(x, 3), 1.001e-5);
    expect_averages(s, naive_stats(x, 3), 0.9, 12.0 / 11.0);
  }
}

TEST(BatchNorm, in_inference_uses_the_averages) {
  for (const Shape& shape : {Shape(4, 3), Shape(1, 2, 2, 3)}) {
    GraphScope g;
    TowerContext tower("", false);
    const HostTensor x = shifted(shape);
    const auto y = batch_norm("bn", constant(x), {.epsilon = 1e-9});
    EXPECT_TRUE(updates().empty());
    EXPECT_TRUE(g.graph().collections().get(kModelVariables).empty());
    Session s;
    s.set("bn/mean/EMA", HostTensor::of<double>({1, 2, 3}));
    s.set("bn/variance/EMA", HostTensor::of<double>({4, 5, 6}));
    expect_normalized(s.eval(y), x, {{1, 2, 3}, {4, 5, 6}}, shape.rank() == 4 ? 1.001e-5 : 1e-9);
  }
}

TEST(BatchNorm, frozen_statistics_pass_gradients_to_x_gamma_and_beta) {
  GraphScope g;
  TowerContext tower("", true);
  const HostTensor x = shifted({4, 3});
  const Tensor in = constant(x);
  const auto y = batch_norm("bn", in, {.training = false, .epsilon = 1e-3});
  EXPECT_TRUE(updates().empty());
  const Variable gamma = y.variables()["gamma"], beta = y.variables()["beta"];
  const TensorList grads = gradients(reduce_sum(square(y)), {in, gamma.handle(), beta.handle()});
  Session s;
  s.set("bn/mean/EMA", HostTensor::of<double>({1, 2, 3}));
  s.set("bn/variance/EMA", HostTensor::of<double>({4, 5, 6}));
  s.set("bn/gamma", HostTensor::of<double>({2, -1, 0.5}));
  const Stats stats{{1, 2, 3}, {4, 5, 6}};
  const double scale[] = {2, -1, 0.5};
  double dgamma[3] = {}, dbeta[3] = {};
  const HostTensors value = s.run(grads);
  for (int64_t i = 0; i < 12; ++i) {
    const auto c = static_cast<size_t>(i % 3);
    const double hat = normalized(x.at(i), stats, c, 1e-3), dy = 2 * scale[c] * hat;
    dgamma[c] += dy * hat;
    dbeta[c] += dy;
    EXPECT_NEAR(value[0].at(i), dy * scale[c] / std::sqrt(stats.variance[c] + 1e-3), 1e-9);
  }
  for (int64_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(value[1].at(c), dgamma[c], 1e-9);
    EXPECT_NEAR(value[2].at(c), dbeta[c], 1e-9);
  }
}

// The head of most networks for images: the gradient of a mean over pixels is broadcast.
TEST(BatchNorm, before_relu_and_a_mean_over_pixels_has_the_gradients_that_it_has_without_fusion) {
  for (const bool training : {true, false}) {
    GraphScope g;
    TowerContext tower("", true);
    const Tensor x = placeholder({2, 4, 5, 3}, f64, "x");
    const auto y = batch_norm("bn", x, {.training = training});
    const Tensor means = global_avg_pooling("gap", relu(y));
    const TensorList grads =
        gradients(reduce_sum(square(means)), {x, y.variables()["gamma"].handle(), y.variables()["beta"].handle()});
    const Feeds feeds = {{x, shifted({2, 4, 5, 3})}};
    const HostTensors fused = Session().run(grads, feeds);
    const HostTensors expected = Session(g.graph(), {.disabled_passes = {"fuse"}}).run(grads, feeds);
    for (size_t i = 0; i < grads.size(); ++i) EXPECT_TRUE(fused[i].same_bits(expected[i])) << training << " " << i;
  }
}

TEST(BatchNorm, batch_statistics_in_an_inference_tower_update_nothing) {
  GraphScope g;
  const HostTensor x = shifted({4, 3});
  Tensor y;
  {
    TowerContext tower("test", false);
    y = batch_norm("bn", constant(x), {.training = true});
  }
  EXPECT_TRUE(updates().empty());
  expect_normalized(Session().eval(y), x, naive_stats(x, 3), 1e-5);
}

Tensor matrix() { return placeholder({4, 3}, f32, "x"); }

OP_REFUSES(batch_norm_layer, no_tower, [] { batch_norm("bn", matrix()); }, {"[batch_norm 'bn']", "outside a tower"});
OP_REFUSES(batch_norm_layer, three_dimensions,
           [] {
             TowerContext tower("", true);
             batch_norm("bn", placeholder({4, 3, 2}, f32, "x"));
           },
           {"[batch_norm 'bn'] x [4, 3, 2] has 3 dimensions, the layer takes 2 or 4"});
OP_REFUSES(batch_norm_layer, internal_updates_in_inference,
           [] {
             TowerContext tower("test", false);
             batch_norm("bn", matrix(), {.training = true, .ema_update = EmaUpdate::internal});
           },
           {"[batch_norm 'bn'] ema_update internal", "'test'"});
OP_REFUSES(batch_norm_layer, momentum_above_one,
           [] {
             TowerContext tower("", true);
             batch_norm("bn", matrix(), {.momentum = 1.5});
           },
           {"[batch_norm 'bn'] momentum is 1.5"});
OP_REFUSES(batch_norm_layer, epsilon_of_zero,
           [] {
             TowerContext tower("", true);
             batch_norm("bn", matrix(), {.epsilon = 0});
           },
           {"[batch_norm 'bn'] epsilon is 0"});
OP_REFUSES(batch_norm_layer, a_virtual_batch_that_does_not_divide,
           [] {
             TowerContext tower("", true);
             batch_norm("bn", matrix(), {.virtual_batch_size = 3});
           },
           {"[batch_norm 'bn'] virtual_batch_size 3", "[4, 3]"});
OP_REFUSES(batch_norm_layer, synchronised_virtual_batches,
           [] {
             TowerContext tower("", true);
             batch_norm("bn", matrix(), {.virtual_batch_size = 2, .sync_statistics = true});
           },
           {"[batch_norm 'bn']", "exclude each other"});

}  // namespace
}  // namespace martello::testing
