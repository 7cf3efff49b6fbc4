#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/optim/optimizers.h>
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

struct NamedOptimizer {
  const char* name;
  std::function<Ref<Optimizer>()> make;
};

std::vector<NamedOptimizer> all_optimizers() {
  return {{"sgd", [] { return Ref<Optimizer>(SGD(0.05)); }},
          {"momentum", [] { return Ref<Optimizer>(Momentum(0.05)); }},
          {"nesterov", [] { return Ref<Optimizer>(Momentum(0.05, {.nesterov = true})); }},
          {"adam", [] { return Ref<Optimizer>(Adam(0.05)); }},
          {"adamw", [] { return Ref<Optimizer>(AdamW(0.05, {.weight_decay = 0.1})); }},
          {"rmsprop", [] { return Ref<Optimizer>(RMSProp(0.05, {.momentum = 0.5})); }},
          {"centered", [] { return Ref<Optimizer>(RMSProp(0.05, {.momentum = 0.5, .centered = true})); }},
          {"adagrad", [] { return Ref<Optimizer>(Adagrad(0.05)); }},
          {"adadelta", [] { return Ref<Optimizer>(Adadelta(0.5)); }},
          {"lamb", [] { return Ref<Optimizer>(Lamb(0.05, {.weight_decay = 0.1})); }},
          {"lion", [] { return Ref<Optimizer>(Lion(0.05, {.weight_decay = 0.1})); }}};
}

// The variables after five steps from random values; `alone` trains one of them only.
HostTensors train(Optimizer& optimizer, DType dtype, int threads, int alone = -1) {
  GraphScope g;
  std::vector<Variable> vars;
  GradVars grads;
  for (int64_t n : {3, 1, 70000, 16384})
    vars.push_back(get_variable(str("w", n), {.shape = {n}, .dtype = dtype, .initializer = random_normal_init()}));
  for (size_t i = 0; i < vars.size(); ++i)
    if (alone < 0 || static_cast<size_t>(alone) == i) grads.push_back({vars[i] * 1.5 + sin(vars[i]), vars[i]});
  const Operation step = optimizer.apply_gradients(grads);
  Session s(g.graph(), {.threads = threads, .always_parallel = true});
  for (int i = 0; i < 5; ++i) s.run(step);
  HostTensors values;
  for (const Variable& v : vars) values.push_back(s.get(v));
  return values;
}

TEST(Optimizer, the_number_of_threads_changes_no_bit) {
  for (const NamedOptimizer& o : all_optimizers())
    for (DType dtype : {f32, f64}) {
      const HostTensors one = train(*o.make(), dtype, 1);
      for (int threads : {2, 4}) {
        const HostTensors many = train(*o.make(), dtype, threads);
        for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(one[i].same_bits(many[i])) << o.name << " variable " << i;
      }
    }
}

TEST(Optimizer, variables_of_one_arena_are_trained_as_if_alone) {
  for (const NamedOptimizer& o : all_optimizers()) {
    const HostTensors together = train(*o.make(), f32, 2);
    for (int i = 0; i < 4; ++i) {
      const HostTensor alone = train(*o.make(), f32, 2, i)[static_cast<size_t>(i)];
      EXPECT_TRUE(together[static_cast<size_t>(i)].same_bits(alone)) << o.name << " variable " << i;
    }
  }
}

TEST(Optimizer, a_group_is_updated_by_one_node) {
  for (const NamedOptimizer& o : all_optimizers()) {
    GraphScope g;
    const Problem p = make_problem(f32);
    o.make()->minimize(p.loss, p.vars);
    int updates = 0;
    for (const Operation& op : g.graph().operations()) updates += std::string_view(op.type()) == "optimizer_update";
    EXPECT_EQ(updates, 1) << o.name;
  }
}

// A zero gradient shows the decay alone.
std::vector<double> after_decay(Ref<Optimizer> optimizer) {
  GraphScope g;
  GradVars grads;
  for (const char* name : {"fc/W", "fc/b", "bn/gamma"}) {
    const Variable v = get_variable(name, {.shape = {2}, .initializer = ones()});
    grads.push_back({v * 0.0, v});
  }
  Session s(g.graph());
  s.run(optimizer->apply_gradients(grads));
  return {s.get("fc/W").at(0), s.get("fc/b").at(0), s.get("bn/gamma").at(0)};
}

TEST(Optimizer, weight_decay_spares_names_and_what_a_predicate_says) {
  const float less = 0.95f;
  using Values = std::vector<double>;
  EXPECT_EQ(after_decay(AdamW(0.5, {.weight_decay = 0.1})), (Values{less, less, less}));
  EXPECT_EQ(after_decay(AdamW(0.5, {.weight_decay = 0.1, .no_decay = ".*/(b|gamma)"})), (Values{less, 1, 1}));
  EXPECT_EQ(after_decay(AdamW(0.5, {.weight_decay = 0.1, .no_decay = "b"})), (Values{less, less, less}));
  const auto is_weight = [](const Variable& v) { return v.handle().name().ends_with("W"); };
  EXPECT_EQ(after_decay(Lion(0.5, {.weight_decay = 0.1, .decays = is_weight})), (Values{less, 1, 1}));
}

TEST(Optimizer, slots_have_the_names_and_first_values_of_tensorflow) {
  GraphScope g;
  const Problem p = make_problem(f64);
  RMSProp(0.1, {.centered = true}).minimize(p.loss, p.vars);
  Adagrad(0.1).minimize(p.loss, p.vars);
  Adadelta(0.1).minimize(p.loss, p.vars);
  Session s;
  EXPECT_EQ(s.get("w3/RMSProp").at(0), 1);
  EXPECT_EQ(s.get("w3/RMSProp_1").at(0), 0);
  EXPECT_EQ(s.get("w3/RMSProp_2").at(0), 0);
  EXPECT_EQ(s.get("w3/Adagrad").at(0), 0.1);
  EXPECT_EQ(s.get("w3/Adadelta_1").at(0), 0);
}

TEST(Optimizer, lamb_steps_plainly_where_a_norm_is_zero) {
  GraphScope g;
  const Variable w = get_variable("w", {.shape = {2}, .dtype = f64, .initializer = zeros()});
  const Tensor gradient = constant(HostTensor::of<double>({2, -2}));
  Session s(g.graph());
  s.run(Lamb(0.1, {.epsilon = 0}).apply_gradients({{gradient, w}}));
  EXPECT_NEAR(s.get(w).at(0), -0.1, 1e-12);
  EXPECT_NEAR(s.get(w).at(1), 0.1, 1e-12);
}

TEST(Optimizer, refuses_options_that_cannot_be) {
  EXPECT_THROW(Momentum(0.1, {.momentum = 1}), InvalidArgument);
  EXPECT_THROW(Adam(0.1, {.beta1 = -0.1}), InvalidArgument);
  EXPECT_THROW(Adam(0.1, {.epsilon = -1}), InvalidArgument);
  EXPECT_THROW(AdamW(0.1, {.weight_decay = -1}), InvalidArgument);
  EXPECT_THROW(AdamW(0.1, {.no_decay = "(b"}), InvalidArgument);
  EXPECT_THROW(RMSProp(0.1, {.decay = 2}), InvalidArgument);
  EXPECT_THROW(Adagrad(0.1, {.initial_accumulator = 0}), InvalidArgument);
}

TEST(Optimizer, refuses_to_train_nothing) {
  GraphScope g;
  EXPECT_THROW(Adam(0.1).minimize(constant(1)), InvalidArgument);
  EXPECT_THROW(Adam(0.1).apply_gradients({}), InvalidArgument);
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
