#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/optim/optimizer.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello {
namespace {

// loss = sum(c w^2) / 2 has gradient c w.
struct Problem {
  std::vector<Variable> vars;
  Tensor loss;
};

Problem make_problem(DType dtype) {
  Problem p;
  for (int64_t n : {3, 1, 70000}) {
    p.vars.push_back(get_variable(str("w", n), {.shape = {n}, .dtype = dtype, .initializer = ones()}));
    const Tensor term = reduce_sum(square(p.vars.back())) * (0.5 * static_cast<double>(p.vars.size()));
    p.loss = p.loss.is_null() ? term : p.loss + term;
  }
  return p;
}

template <class Step>
void expect_follows(Operation train, const Problem& p, const Step& step, double tolerance) {
  Session s;
  auto run = s.prepare(train);
  for (int i = 0; i < 10; ++i) run.run();
  for (size_t v = 0; v < p.vars.size(); ++v) {
    double w = 1, state[3] = {};
    for (int t = 1; t <= 10; ++t) step(w, static_cast<double>(v + 1) * w, t, state);
    const HostTensor got = s.get(p.vars[v]);
    EXPECT_NEAR(got.at(0), w, tolerance);
    EXPECT_NEAR(got.at(got.num_elements() - 1), w, tolerance);
  }
}

TEST(Optimizer, momentum_follows_its_formula_for_ten_steps) {
  for (DType dtype : {f32, f64}) {
    GraphScope g;
    const Problem p = make_problem(dtype);
    auto train = Momentum(0.05, {.momentum = 0.9}).minimize(p.loss, p.vars);
    expect_follows(
        train, p, [](double& w, double grad, int, double* m) { w -= 0.05 * (m[0] = 0.9 * m[0] + grad); },
        dtype == f32 ? 1e-5 : 1e-12);
  }
}

TEST(Optimizer, nesterov_follows_its_formula_for_ten_steps) {
  GraphScope g;
  const Problem p = make_problem(f64);
  auto train = Momentum(0.05, {.momentum = 0.8, .nesterov = true}).minimize(p.loss, p.vars);
  expect_follows(
      train, p,
      [](double& w, double grad, int, double* m) {
        m[0] = 0.8 * m[0] + grad;
        w -= 0.05 * (grad + 0.8 * m[0]);
      },
      1e-12);
}

TEST(Optimizer, adam_follows_its_formula_for_ten_steps) {
  for (DType dtype : {f32, f64}) {
    GraphScope g;
    const Problem p = make_problem(dtype);
    auto train = Adam(0.01, {.beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-3}).minimize(p.loss, p.vars);
    expect_follows(
        train, p,
        [](double& w, double grad, int t, double* s) {
          s[0] = 0.8 * s[0] + 0.2 * grad;
          s[1] = 0.99 * s[1] + 0.01 * grad * grad;
          w -= 0.01 * std::sqrt(1 - std::pow(0.99, t)) / (1 - std::pow(0.8, t)) * s[0] / (std::sqrt(s[1]) + 1e-3);
        },
        dtype == f32 ? 1e-5 : 1e-12);
  }
}

TEST(Optimizer, the_learning_rate_may_be_a_variable) {
  GraphScope g;
  const Problem p = make_problem(f32);
  auto rate = get_scalar_var("learning_rate", 0);
  auto train = Momentum(rate).minimize(p.loss, p.vars);
  Session s;
  s.run(train);
  EXPECT_EQ(s.get("w3").at(0), 1);
  s.set(rate, 0.5f);
  s.run(train);
  EXPECT_LT(s.get("w3").at(0), 1);
}

TEST(Optimizer, slots_are_named_after_their_variables) {
  GraphScope g;
  const Problem p = make_problem(f32);
  Adam(0.01).minimize(p.loss, p.vars);
  for (const char* name : {"w3/Adam", "w3/Adam_1", "w70000/Adam"}) EXPECT_TRUE(g.graph().find_tensor(name)) << name;
  EXPECT_EQ(trainable_variables().size(), 3u);
}

TEST(Optimizer, variables_of_two_dtypes_and_devices_are_trained_together) {
  GraphScope g;
  auto a = get_variable("a", {.shape = {4}, .initializer = ones()});
  Variable b, c;
  b = get_variable("b", {.shape = {4}, .dtype = f64, .initializer = ones()});
  {
    DeviceScope on("cpu:1");
    c = get_variable("c", {.shape = {4}, .initializer = ones()});
  }
  auto loss = reduce_sum(square(a)) + reduce_sum(square(c));
  auto grads = Momentum(0.1).compute_gradients(loss, {a, c});
  for (const GradVar& gv : Momentum(0.1).compute_gradients(reduce_sum(square(b)), {b})) grads.push_back(gv);
  auto train = Momentum(0.1).apply_gradients(grads);
  Session s;
  s.run(train);
  for (const char* name : {"a", "b", "c"}) EXPECT_NEAR(s.get(name).at(0), 0.8, 1e-6) << name;
}

TEST(Optimizer, refuses_what_cannot_be_trained) {
  GraphScope g;
  auto w = get_variable("w", {.shape = {2}});
  EXPECT_THROW(Momentum(0.1).minimize(square(w), {w}), InvalidArgument);
  EXPECT_THROW(Momentum(0.1).minimize(constant(1), {w}), InvalidArgument);
  const Tensor grad = w;
  EXPECT_THROW(Momentum(0.1).apply_gradients({{grad, w}, {grad, w}}), InvalidArgument);
}

}  // namespace
}  // namespace martello
