#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/shape.h>
#include <martello/ops/unary.h>
#include <martello/optim/accumulate_gradients.h>
#include <martello/optim/gradient_processor.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

// loss = mean over the batch of (w x)^2 / 2, for two variables.
struct Model {
  GraphScope graph;
  Tensor x = placeholder({kUnknown, 3}, f64, "x");
  Variable w = get_variable("w", {.shape = {3}, .dtype = f64, .initializer = ones()});
  Variable v = get_variable("v", {.shape = {1}, .dtype = f64, .initializer = ones()});
  Tensor loss = reduce_mean(reduce_sum(square(w * x), {.axes = {1}}) * v) * 0.5;
};

HostTensor rows(int64_t first, int64_t count) {
  HostTensor x({count, 3}, f64);
  for (int64_t i = 0; i < count * 3; ++i) x.set(i, static_cast<double>((first * 3 + i) * 7 % 11) / 10);
  return x;
}

// The variables after steps with batches of these sizes, which follow each other in the data.
std::vector<double> train(const std::function<Ref<Optimizer>()>& make, const std::vector<int64_t>& batches) {
  Model m;
  const Operation step = make()->minimize(m.loss);
  Session s;
  int64_t first = 0;
  for (int64_t n : batches) {
    s.run(step, {{m.x, rows(first, n)}});
    first += n;
  }
  std::vector<double> values;
  for (const Variable& var : {m.w, m.v})
    for (int64_t i = 0; i < s.get(var).num_elements(); ++i) values.push_back(s.get(var).at(i));
  return values;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-13) << i;
}

TEST(AccumGrad, several_calls_are_one_large_batch) {
  const auto plain = [] { return Ref<Optimizer>(Adam(0.1)); };
  const auto accumulated = [] { return Ref<Optimizer>(AccumGradOptimizer(Adam(0.1), 3)); };
  expect_near(train(accumulated, {4, 4, 4, 4, 4, 4}), train(plain, {12, 12}));
}

TEST(AccumGrad, nothing_is_written_before_the_last_call) {
  const auto accumulated = [] { return Ref<Optimizer>(AccumGradOptimizer(Momentum(0.1), 3)); };
  EXPECT_EQ(train(accumulated, {4, 4}), (std::vector<double>{1, 1, 1, 1}));
  EXPECT_EQ(train(accumulated, {4, 4, 4, 4, 4}), train(accumulated, {4, 4, 4}));
}

TEST(AccumGrad, the_sum_asks_for_a_smaller_rate) {
  const auto mean = [] { return Ref<Optimizer>(AccumGradOptimizer(Momentum(0.3), 3)); };
  const auto sum = [] {
    return Ref<Optimizer>(AccumGradOptimizer(Momentum(0.1), 3, {.combine = AccumGradOptions::Combine::sum}));
  };
  expect_near(train(sum, {4, 4, 4, 4, 4, 4}), train(mean, {4, 4, 4, 4, 4, 4}));
}

TEST(AccumGrad, batches_of_different_sizes_are_weighed_by_their_samples) {
  const auto plain = [] { return Ref<Optimizer>(Momentum(0.1)); };
  const auto weighed = [] {
    const Tensor x = Graph::current().get_tensor("x");
    const Tensor samples = reduce_sum(x * 0.0 + 1.0) / 3.0;
    return Ref<Optimizer>(AccumGradOptimizer(Momentum(0.1), 3, {.samples = samples}));
  };
  expect_near(train(weighed, {1, 4, 7, 5, 5, 2}), train(plain, {12, 12}));
}

// A mean over none is NaN, and counts for nothing.
TEST(AccumGrad, batches_without_samples_count_for_nothing) {
  const auto weighed = [](int64_t niter) {
    return [=] {
      const Tensor samples = cast(size(Graph::current().get_tensor("x")), f64) / 3.0;
      return Ref<Optimizer>(AccumGradOptimizer(Momentum(0.1), niter, {.samples = samples}));
    };
  };
  expect_near(train(weighed(3), {1, 0, 7}), train(weighed(2), {1, 7}));
  EXPECT_EQ(train(weighed(2), {0, 0}), (std::vector<double>{1, 1, 1, 1}));
  expect_near(train(weighed(2), {0, 0, 3, 4}), train(weighed(2), {3, 4}));
}

TEST(AccumGrad, processors_inside_see_the_mean) {
  const auto plain = [] { return apply_grad_processors(Momentum(0.1), {GlobalNormClip(0.01)}); };
  const auto inside = [&] { return Ref<Optimizer>(AccumGradOptimizer(plain(), 2)); };
  expect_near(train(inside, {6, 6, 6, 6}), train(plain, {12, 12}));
}

TEST(AccumGrad, an_assignment_inside_waits_for_the_last_call) {
  const auto assigned = [] {
    return Ref<Optimizer>(
        AccumGradOptimizer(VariableAssignmentOptimizer(Momentum(0.1), [](Variable v) { return v * 0.5; }), 2));
  };
  EXPECT_EQ(train(assigned, {4}), (std::vector<double>{1, 1, 1, 1}));
  EXPECT_LT(train(assigned, {4, 4})[0], 0.5);
}

TEST(AccumGrad, keeps_its_state_in_variables) {
  Model m;
  const Operation step = AccumGradOptimizer(Adam(0.1), 2).minimize(m.loss);
  Session s;
  for (int i = 0; i < 3; ++i) s.run(step, {{m.x, rows(0, 4)}});
  EXPECT_EQ(s.get("AccumGrad/counter").at(0), 3);
  EXPECT_NE(s.get("w/AccumGrad").at(0), 0);
  EXPECT_EQ(s.get("Adam/step").at(0), 1);
  s.run(step, {{m.x, rows(0, 4)}});
  EXPECT_EQ(s.get("w/AccumGrad").at(0), 0);
  EXPECT_EQ(s.get("Adam/step").at(0), 2);
}

TEST(AccumGrad, refuses_what_cannot_be) {
  Model m;
  EXPECT_THROW(AccumGradOptimizer(Adam(0.1), 0), InvalidArgument);
  EXPECT_THROW(AccumGradOptimizer(nullptr, 2), InvalidArgument);
  EXPECT_THROW(AccumGradOptimizer(Adam(0.1), 2, {.samples = m.w}).minimize(m.loss), InvalidArgument);
  EXPECT_THROW(AccumGradOptimizer(AccumGradOptimizer(Adam(0.1), 2), 2).minimize(m.loss), InvalidArgument);
  EXPECT_THROW(
      AccumGradOptimizer(PostProcessOptimizer(Adam(0.1), [](Variable) { return Operation(); }), 2).minimize(m.loss),
      InvalidArgument);
  EXPECT_NO_THROW(Adam(0.1).minimize(m.loss));  // the gate of the failed ones is gone
}

}  // namespace
}  // namespace martello
