#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/initializers.h>
#include <martello/optim/global_step.h>
#include <martello/optim/moving_average.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello {
namespace {

// Each step takes 1 from every element.
struct Model {
  GraphScope graph;
  Variable a = get_variable("a", {.shape = {20000}, .initializer = random_normal_init()});
  Variable b = get_variable("b", {.shape = {2}, .dtype = f64, .initializer = ones()});
  Operation step() {
    return GradientDescent(1).apply_gradients(
        {{constant(HostTensor::full({20000}, f32, 1)), a}, {constant(HostTensor::full({2}, f64, 1)), b}});
  }
};

TEST(MovingAverage, follows_the_variables_after_each_step) {
  Model m;
  MovingAverage average(0.9, {m.a, m.b});
  const Operation train = average.update_after(m.step());
  Session s;
  const double start = s.get(m.a).at(7);
  EXPECT_EQ(s.get(average.average(m.a)).at(7), start);  // the same random numbers
  double w = 1, shadow = 1;
  for (int i = 0; i < 5; ++i) {
    s.run(train);
    w -= 1;
    shadow = 0.9 * shadow + 0.1 * w;
  }
  EXPECT_NEAR(s.get(average.average(m.b)).at(1), shadow, 1e-13);
  EXPECT_NEAR(s.get("a/ExponentialMovingAverage").at(7), start - 1 + shadow, 1e-5);
  EXPECT_EQ(s.get(m.b).at(0), -4);
}

TEST(MovingAverage, early_averages_follow_faster) {
  Model m;
  const Variable n = get_global_step_var();
  MovingAverage average(0.9, {m.b}, {.num_updates = n});
  const Operation train = advance_global_step({average.update_after(m.step())});
  Session s;
  double w = 1, shadow = 1;
  for (int i = 0; i < 100; ++i) {
    s.run(train);
    w -= 1;
    const double decay = std::min(0.9, (1.0 + i) / (10.0 + i));
    shadow = decay * shadow + (1 - decay) * w;
  }
  EXPECT_NEAR(s.get(average.average(m.b)).at(1), shadow, 1e-10);
}

TEST(MovingAverage, swap_exchanges_and_restores) {
  Model m;
  MovingAverage average(0.5, {m.a, m.b});
  const Operation train = average.update_after(m.step()), swap = average.swap();
  Session s;
  s.run(train);
  const HostTensor w = s.get(m.a), shadow = s.get(average.average(m.a));
  s.run(swap);
  EXPECT_TRUE(s.get(m.a).same_bits(shadow));
  EXPECT_TRUE(s.get(average.average(m.a)).same_bits(w));
  s.run(swap);
  EXPECT_TRUE(s.get(m.a).same_bits(w));
  s.run(average.assign_averages());
  EXPECT_TRUE(s.get(m.a).same_bits(shadow));
  EXPECT_TRUE(s.get(average.average(m.a)).same_bits(shadow));
}

TEST(MovingAverage, refuses_what_cannot_be) {
  Model m;
  const Variable n = get_global_step_var();
  EXPECT_THROW(MovingAverage(1.5, {m.a}), InvalidArgument);
  EXPECT_THROW(MovingAverage(0.5, {}), InvalidArgument);
  EXPECT_THROW(MovingAverage(0.5, {m.a, m.b, m.a}), InvalidArgument);
  EXPECT_THROW(MovingAverage(0.5, {n}), InvalidArgument);
  EXPECT_THROW(MovingAverage(0.5, {m.a}).average(m.b), InvalidArgument);
  EXPECT_THROW(MovingAverage(0.5, {m.a}).update_after(Operation()), InvalidArgument);
}

}  // namespace
}  // namespace martello
