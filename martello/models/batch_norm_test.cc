#include <martello/models/batch_norm.h>

#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
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

struct Stats {
  std::vector<double> mean, variance;
};

// x [n, channels] in f64.
Stats naive_stats(const HostTensor& x, int64_t channels, int64_t first = 0, int64_t count = -1) {
  const int64_t rows = count < 0 ? x.num_elements() / channels : count;
  Stats s{std::vector<double>(static_cast<size_t>(channels)), std::vector<double>(static_cast<size_t>(channels))};
  for (int64_t c = 0; c < channels; ++c) {
    auto& mean = s.mean[static_cast<size_t>(c)];
    auto& variance = s.variance[static_cast<size_t>(c)];
    for (int64_t r = first; r < first + rows; ++r) mean += x.at(r * channels + c) / static_cast<double>(rows);
    for (int64_t r = first; r < first + rows; ++r)
      variance += std::pow(x.at(r * channels + c) - mean, 2) / static_cast<double>(rows);
  }
  return s;
}

double normalized(double x, const Stats& s, size_t c, double epsilon) {
  return (x - s.mean[c]) / std::sqrt(s.variance[c] + epsilon);
}

void expect_normalized(const HostTensor& y, const HostTensor& x, const Stats& s, double epsilon) {
  const auto channels = static_cast<int64_t>(s.mean.size());
  for (int64_t i = 0; i < x.num_elements(); ++i)
    ASSERT_NEAR(y.at(i), normalized(x.at(i), s, static_cast<size_t>(i % channels), epsilon), 1e-9) << i;
}

void expect_averages(Session& session, const Stats& batch, double momentum, double unbias = 1) {
  for (size_t c = 0; c < batch.mean.size(); ++c) {
    EXPECT_NEAR(session.get("bn/mean/EMA").at(static_cast<int64_t>(c)), (1 - momentum) * batch.mean[c], 1e-12);
    EXPECT_NEAR(session.get("bn/variance/EMA").at(static_cast<int64_t>(c)),
                momentum + (1 - momentum) * batch.variance[c] * unbias, 1e-12);
  }
}

std::vector<Operation> updates() { return Graph::current().collections().get(kUpdateOps); }

void run_updates(Session& s) {
  std::vector<Fetch> fetches;
  for (const Operation& u : updates()) fetches.push_back(u);
  s.run(fetches);
}

HostTensor shifted(Shape shape) {
  HostTensor x = randn(std::move(shape), 7);
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, x.at(i) * 3 + static_cast<double>(i % 3));
  return x;
}

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

TEST(BatchNorm, internal_updates_run_with_the_output) {
  GraphScope g;
  TowerContext tower("", true);
  const HostTensor x = shifted({4, 3});
  const auto y = batch_norm("bn", constant(x), {.ema_update = EmaUpdate::internal});
  EXPECT_TRUE(updates().empty());
  Session s;
  expect_normalized(s.eval(y), x, naive_stats(x, 3), 1e-5);
  expect_averages(s, naive_stats(x, 3), 0.9);
}

TEST(BatchNorm, skip_updates_nothing) {
  GraphScope g;
  TowerContext tower("", true);
  const auto y = batch_norm("bn", constant(shifted({4, 3})), {.ema_update = EmaUpdate::skip});
  Session s;
  s.eval(y);
  EXPECT_TRUE(updates().empty());
  EXPECT_EQ(s.get("bn/mean/EMA").at(0), 0);
}

TEST(BatchNorm, only_the_main_training_tower_updates) {
  GraphScope g;
  {
    TowerContext tower("tower0", true, {.total = 2});
    batch_norm("bn", constant(shifted({4, 3})));
  }
  EXPECT_EQ(updates().size(), 2u);
  VariableScope shared("", Reuse::yes);
  TowerContext tower("tower1", true, {.index = 1, .total = 2});
  batch_norm("bn", constant(shifted({4, 3})), {.ema_update = EmaUpdate::internal});
  EXPECT_EQ(updates().size(), 2u);
  EXPECT_EQ(g.graph().collections().get(kModelVariables).size(), 2u);
}

TEST(BatchNorm, used_twice_takes_in_both_batches) {
  GraphScope g;
  TowerContext tower("", true);
  const HostTensor a = shifted({4, 3}), b = randn({4, 3}, 9);
  VariableScope shared("", Reuse::automatic);
  batch_norm("bn", constant(a));
  batch_norm("bn", constant(b));
  Session s;
  run_updates(s);
  const double expected = 0.1 * (naive_stats(a, 3).mean[0] + naive_stats(b, 3).mean[0]);
  EXPECT_NEAR(s.get("bn/mean/EMA").at(0), expected, 1e-12);
}

TEST(BatchNorm, virtual_batches_are_normalized_for_themselves) {
  for (const Shape& shape : {Shape(6, 3), Shape(6, 2, 1, 3)}) {
    GraphScope g;
    TowerContext tower("", true);
    const HostTensor x = shifted(shape);
    const auto y = batch_norm("bn", constant(x), {.epsilon = 1e-7, .virtual_batch_size = 2});
    EXPECT_EQ(y.shape(), shape);
    Session s;
    const HostTensor value = s.eval(y);
    const int64_t rows = x.num_elements() / 3 / 3;  // of each of three virtual batches
    for (int64_t group = 0; group < 3; ++group) {
      const Stats stats = naive_stats(x, 3, group * rows, rows);
      for (int64_t i = group * rows * 3; i < (group + 1) * rows * 3; ++i)
        ASSERT_NEAR(value.at(i), normalized(x.at(i), stats, static_cast<size_t>(i % 3), 1e-7), 1e-9) << i;
    }
    run_updates(s);
    expect_averages(s, naive_stats(x, 3, 0, rows), 0.9);
  }
}

TEST(BatchNorm, virtual_batches_keep_channels_first) {
  GraphScope g;
  TowerContext tower("", true);
  const auto y = batch_norm("bn", placeholder({kUnknown, 3, 4, 5}, f64, "x"),
                            {.data_format = DataFormat::nchw, .virtual_batch_size = 2});
  const HostTensor value = Session().eval(y, {{"x", shifted({4, 3, 4, 5})}});
  for (int64_t c = 0; c < 3; ++c) {
    double sum = 0;
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t p = 0; p < 20; ++p) sum += value.at((n * 3 + c) * 20 + p);
    EXPECT_NEAR(sum, 0, 1e-9);
  }
}

TEST(BatchNorm, synchronised_statistics_of_one_tower_are_its_own) {
  for (DataFormat format : {DataFormat::nhwc, DataFormat::nchw}) {
    GraphScope g;
    TowerContext tower("", true);
    const HostTensor x = shifted(format == DataFormat::nhwc ? Shape(4, 2, 2, 3) : Shape(4, 3, 1, 1));
    const auto y = batch_norm("bn", constant(x), {.epsilon = 1e-7, .data_format = format, .sync_statistics = true});
    EXPECT_TRUE(updates().empty());
    Session s;
    expect_normalized(s.eval(y), x, naive_stats(x, 3), 1e-7);
    expect_averages(s, naive_stats(x, 3), 0.9);
    EXPECT_FALSE(gradients(reduce_sum(square(y)), {y.variables()["gamma"].handle()})[0].is_null());
  }
}

TEST(BatchNorm, statistics_of_several_towers_are_reduced_together) {
  GraphScope g;
  TowerContext tower("tower1", true, {.variable_scope = "tower1", .index = 1, .total = 2});
  batch_norm("bn", constant(shifted({4, 3})), {.sync_statistics = true});
  int reductions = 0;
  for (const Operation& op : g.graph().operations()) reductions += std::string_view(op.type()) == "all_reduce";
  EXPECT_EQ(reductions, 1);  // E[x] and E[x^2] side by side
}

// r and d by the paper, the past as two running sums.
TEST(BatchRenorm, follows_its_formula_for_three_steps) {
  GraphScope g;
  TowerContext tower("", true);
  const Tensor x = placeholder({kUnknown, 1}, f64, "x");
  const auto y =
      batch_renorm("bn", x, {.rmax = 1.5, .dmax = 0.5, .momentum = 0.8, .renorm_momentum = 0.9, .epsilon = 1e-3});
  Session s;
  std::vector<Fetch> fetches = {y};
  for (const Operation& u : updates()) fetches.push_back(u);
  double sum_mean = 0, sum_stddev = 0, weight = 0, mean = 0, variance = 1;
  for (int step = 0; step < 3; ++step) {
    HostTensor batch = randn({6, 1}, static_cast<uint64_t>(step) + 1);
    for (int64_t i = 0; i < 6; ++i) batch.set(i, batch.at(i) * (step + 1) + step);
    const Stats b = naive_stats(batch, 1);
    const double stddev = std::sqrt(b.variance[0] + 1e-3);
    const double past = sum_stddev + (1 - weight) * stddev;
    const double r = std::clamp(stddev / past, 1 / 1.5, 1.5);
    const double d = std::clamp((b.mean[0] - (sum_mean + (1 - weight) * b.mean[0])) / past, -0.5, 0.5);
    const HostTensor value = s.run(fetches, {{"x", batch}})[0];
    for (int64_t i = 0; i < 6; ++i) EXPECT_NEAR(value.at(i), (batch.at(i) - b.mean[0]) / stddev * r + d, 1e-9);
    sum_mean = 0.9 * sum_mean + 0.1 * b.mean[0];
    sum_stddev = 0.9 * sum_stddev + 0.1 * stddev;
    weight = 0.9 * weight + 0.1;
    mean = 0.8 * mean + 0.2 * sum_mean / weight;
    variance = 0.8 * variance + 0.2 * (std::pow(sum_stddev / weight, 2) - 1e-3);
    EXPECT_NEAR(s.get("bn/moving_mean").at(0), mean, 1e-9);
    EXPECT_NEAR(s.get("bn/moving_variance").at(0), variance, 1e-9);
    EXPECT_NEAR(s.get("bn/renorm_stddev_weight").at(0), weight, 1e-12);
  }
}

TEST(BatchRenorm, in_inference_uses_the_averages) {
  GraphScope g;
  TowerContext tower("", false);
  const HostTensor x = shifted({4, 3});
  const auto y = batch_renorm("bn", constant(x), {.rmax = 3, .dmax = 5});
  Session s;
  s.set("bn/moving_mean", HostTensor::of<double>({1, 2, 3}));
  expect_normalized(s.eval(y), x, {{1, 2, 3}, {1, 1, 1}}, 1e-5);
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
OP_REFUSES(batch_norm_layer, renorm_rmax_below_one,
           [] {
             TowerContext tower("", true);
             batch_renorm("bn", matrix(), {.rmax = 0.5});
           },
           {"[batch_renorm 'bn'] rmax is 0.5"});

}  // namespace
}  // namespace martello::testing
