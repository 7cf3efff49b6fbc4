#include <martello/models/batch_norm.h>

#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/models/internal/naive_batch_norm.h>
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

using internal::naive_stats;
using internal::normalized;
using internal::shifted;
using internal::Stats;

void expect_normalized(const HostTensor& y, const HostTensor& x, const Stats& s, double epsilon) {
  const auto channels = static_cast<int64_t>(s.mean.size());
  for (int64_t i = 0; i < x.num_elements(); ++i)
    ASSERT_NEAR(y.at(i), normalized(x.at(i), s, static_cast<size_t>(i % channels), epsilon), 1e-9) << i;
}

std::vector<Operation> updates() { return Graph::current().collections().get(kUpdateOps); }

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

OP_REFUSES(batch_norm_layer, renorm_rmax_below_one,
           [] {
             TowerContext tower("", true);
             batch_renorm("bn", placeholder({4, 3}, f32, "x"), {.rmax = 0.5});
           },
           {"[batch_renorm 'bn'] rmax is 0.5"});

TEST(BatchRenorm, an_empty_batch_leaves_the_averages_alone) {
  GraphScope g;
  TowerContext tower("", true);
  const Tensor x = placeholder({kUnknown, 3}, f64, "x");
  std::vector<Fetch> fetches = {batch_renorm("bn", x)};
  for (const Operation& u : updates()) fetches.push_back(u);
  Session s;
  s.run(fetches, {{x, HostTensor({0, 3}, f64)}});
  for (const char* name : {"moving_mean", "renorm_mean", "renorm_mean_weight", "renorm_stddev"})
    EXPECT_EQ(s.get(std::string("bn/") + name).at(0), 0) << name;
  EXPECT_EQ(s.get("bn/moving_variance").at(0), 1);
}

OP_REFUSES(batch_renorm, a_momentum_above_one,
           [] {
             TowerContext tower("", true);
             batch_renorm("bn", placeholder({4, 3}, f32, "x"), {.renorm_momentum = 1.5});
           },
           {"[batch_renorm 'bn']", "renorm_momentum is 1.5", "between 0 and 1"})

}  // namespace
}  // namespace martello::testing
