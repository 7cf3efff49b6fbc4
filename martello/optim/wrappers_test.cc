#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/optim/optimizers.h>
#include <martello/optim/wrappers.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

struct Model {
  GraphScope graph;
  Variable a = get_variable("a", {.shape = {2}, .initializer = ones()});
  Variable b = get_variable("b", {.shape = {}, .initializer = ones()});
  GradVars grads = {{constant(HostTensor::of<float>({1, 2})), a}, {constant(3), b}};
};

TEST(Wrappers, post_process_sees_the_new_value) {
  Model m;
  const Variable seen = get_variable("seen", {.shape = {2}, .initializer = zeros(), .trainable = false});
  const Operation step = PostProcessOptimizer(GradientDescent(0.5), [&](Variable v) {
                           return v.handle() == m.a.handle() ? assign(seen, v) : Operation();
                         }).apply_gradients(m.grads);
  Session s;
  s.run(step);
  EXPECT_EQ(s.get(seen).at(0), 0.5);
  EXPECT_EQ(s.get(seen).at(1), 0);
  s.run(step);
  EXPECT_EQ(s.get(seen).at(1), -1);
}

TEST(Wrappers, variable_assignment_clips_what_the_update_left) {
  Model m;
  const Operation step = VariableAssignmentOptimizer(GradientDescent(0.5), [&](Variable v) {
                           return v.handle() == m.a.handle() ? maximum(v, 0.25) : Tensor();
                         }).apply_gradients(m.grads);
  Session s;
  s.run(step);
  EXPECT_EQ(s.get(m.a).at(0), 0.5);
  EXPECT_EQ(s.get(m.a).at(1), 0.25);
  EXPECT_EQ(s.get(m.b).at(0), -0.5);
}

TEST(Wrappers, a_proxy_hands_everything_on) {
  Model m;
  const Operation step = ProxyOptimizer(GradientDescent(0.5)).apply_gradients(m.grads);
  Session s;
  s.run(step);
  EXPECT_EQ(s.get(m.b).at(0), -0.5);
  EXPECT_THROW(ProxyOptimizer(nullptr), InvalidArgument);
  EXPECT_THROW(PostProcessOptimizer(GradientDescent(1), nullptr), InvalidArgument);
}

}  // namespace
}  // namespace martello
