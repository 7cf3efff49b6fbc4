#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/initializers.h>
#include <martello/optim/global_step.h>
#include <martello/optim/optimizers.h>
#include <martello/optim/schedules.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello {
namespace {

// The schedule at each of these steps against the formula.
void expect_schedule(const std::function<Tensor(Tensor step)>& build, const std::function<double(double)>& formula) {
  for (DType dtype : {i64, i32, f32}) {
    GraphScope g;
    const Tensor step = placeholder({}, dtype, "step"), rate = build(step);
    EXPECT_EQ(rate.dtype(), f32);
    Session s;
    for (double at : {0., 1., 2., 3., 4., 5., 7., 9., 10., 11., 19., 20., 21., 100., 1000000.})
      EXPECT_FLOAT_EQ(static_cast<float>(s.eval(rate, {{step, HostTensor(at).cast(dtype)}}).at(0)),
                      static_cast<float>(formula(at)))
          << str(dtype) << " step " << at;
  }
}

TEST(Schedules, exponential_decay_is_a_power) {
  expect_schedule([](Tensor t) { return exponential_decay(0.5, t, {.decay_steps = 10, .decay_rate = 0.9}); },
                  [](double t) { return 0.5 * std::pow(0.9, t / 10); });
}

TEST(Schedules, a_staircase_takes_whole_steps) {
  expect_schedule(
      [](Tensor t) { return exponential_decay(0.5, t, {.decay_steps = 10, .decay_rate = 0.9, .staircase = true}); },
      [](double t) { return 0.5 * std::pow(0.9, std::floor(t / 10)); });
}

TEST(Schedules, piecewise_constant_changes_after_its_boundaries) {
  expect_schedule(
      [](Tensor t) {
        return piecewise_constant(t, {4, 10}, {0.1, 0.01, 0.001});
      },
      [](double t) { return t <= 4    ? 0.1
                            : t <= 10 ? 0.01
                                      : 0.001; });
}

TEST(Schedules, polynomial_decay_ends_at_its_end) {
  expect_schedule([](Tensor t) { return polynomial_decay(0.5, t, {.decay_steps = 10, .end = 0.1, .power = 2}); },
                  [](double t) { return 0.4 * std::pow(1 - std::min(t, 10.) / 10, 2) + 0.1; });
}

TEST(Schedules, a_cycle_starts_again_with_more_steps) {
  expect_schedule([](Tensor t) { return polynomial_decay(0.5, t, {.decay_steps = 10, .end = 0.1, .cycle = true}); },
                  [](double t) {
                    const double all = 10 * std::max(1., std::ceil(t / 10));
                    return 0.4 * (1 - t / all) + 0.1;
                  });
}

TEST(Schedules, cosine_decay_is_half_a_wave) {
  expect_schedule(
      [](Tensor t) { return cosine_decay(0.5, t, {.decay_steps = 10, .alpha = 0.2}); },
      [](double t) { return 0.5 * (0.8 * 0.5 * (1 + std::cos(std::acos(-1.) * std::min(t, 10.) / 10)) + 0.2); });
}

TEST(Schedules, warm_up_leads_to_another_schedule) {
  expect_schedule(
      [](Tensor t) { return warm_up(cosine_decay(0.5, t, {.decay_steps = 20}), t, {.steps = 5, .initial = 0.1}); },
      [](double t) {
        const double rate = 0.5 * 0.5 * (1 + std::cos(std::acos(-1.) * std::min(t, 20.) / 20));
        return t < 5 ? 0.1 + (rate - 0.1) * t / 5 : rate;
      });
}

TEST(Schedules, an_optimizer_follows_the_global_step) {
  GraphScope g;
  const Variable step = get_global_step_var(), w = get_variable("w", {.shape = {}, .initializer = ones()});
  const Tensor rate = piecewise_constant(step, {0, 1}, {1, 10, 100});
  const Operation train = advance_global_step({GradientDescent(rate).apply_gradients({{constant(0.001), w}})});
  Session s;
  const float expected[] = {0.999f, 0.989f, 0.889f};
  for (float value : expected) {
    s.run(train);
    EXPECT_NEAR(s.get(w).at(0), value, 1e-6);
  }
  EXPECT_EQ(s.get("global_step").at(0), 3);
}

TEST(Schedules, the_global_step_is_one_variable_in_any_scope) {
  GraphScope g;
  VariableScope scope("tower");
  NameScope names("tower");
  const Variable step = get_global_step_var();
  EXPECT_EQ(step.handle().name(), "global_step");
  EXPECT_EQ(step.handle(), get_global_step_var().handle());
  EXPECT_TRUE(trainable_variables().empty());
}

TEST(Schedules, refuse_what_makes_no_schedule) {
  GraphScope g;
  const Tensor step = get_global_step_var();
  EXPECT_THROW(exponential_decay(0.1, step, {.decay_steps = 0}), InvalidArgument);
  EXPECT_THROW(piecewise_constant(step, {1, 2}, {0.1, 0.2}), InvalidArgument);
  EXPECT_THROW(piecewise_constant(step, {2, 2}, {0.1, 0.2, 0.3}), InvalidArgument);
  EXPECT_THROW(cosine_decay(0.1, placeholder({3}, i64, "steps")), InvalidArgument);
  EXPECT_THROW(warm_up(0.1, Tensor()), InvalidArgument);
}

TEST(Schedules, the_global_step_refuses_a_name_that_is_taken) {
  GraphScope g;
  placeholder({}, f32, "global_step");
  EXPECT_THROW(get_global_step_var(), InvalidArgument);
}

}  // namespace
}  // namespace martello
