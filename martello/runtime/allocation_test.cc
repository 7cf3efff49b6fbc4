// A prepared run with shapes seen before allocates nothing, outside of what oneDNN allocates within its own execute.
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/random.h>
#include <martello/ops/reduce.h>
#include <martello/ops/softmax.h>
#include <martello/ops/sparse_softmax_cross_entropy.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/hooked_session.h>
#include <martello/runtime/internal/count_allocations.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

struct Model {
  Tensor x, label, loss;
  Operation train;
};

// Every kind of kernel that a training step has: matmul, fused chains, reductions, random, cross entropy, update.
Model build(bool is_adam) {
  Model m;
  m.x = placeholder({kUnknown, 32}, f32, "x");
  m.label = placeholder({kUnknown}, i32, "label");
  auto w0 = get_variable("w0", {.shape = {32, 64}}), w1 = get_variable("w1", {.shape = {64, 10}});
  auto b0 = get_variable("b0", {.shape = {64}, .initializer = zeros()});
  auto h = tanh(matmul(m.x, w0) + b0);
  h = h * cast(random_uniform({16, 64}) < 0.5, f32) * 2;
  m.loss = reduce_mean(sparse_softmax_cross_entropy(matmul(h, w1), m.label), "loss");
  if (is_adam) m.train = Adam(1e-3).minimize(m.loss);
  else m.train = Momentum(1e-2).minimize(m.loss);
  return m;
}

template <class F>
int64_t count_allocations(F&& run) {
  testing::start_counting_allocations();
  run();
  return testing::stop_counting_allocations();
}

class Allocations : public ::testing::TestWithParam<bool> {};

TEST_P(Allocations, a_prepared_training_step_makes_none) {
  GraphScope g;
  const Model m = build(GetParam());
  Session s;
  auto run = s.prepare({m.train, m.loss}, {m.x, m.label});
  run.feed(0, HostTensor::full({16, 32}, f32, 0.1));
  run.feed(1, HostTensor({16}, i32));
  run.run();
  EXPECT_EQ(count_allocations([&] {
              for (int i = 0; i < 10; ++i) run.run();
            }),
            0);
}

TEST_P(Allocations, feeding_again_makes_none) {
  GraphScope g;
  const Model m = build(GetParam());
  Session s;
  auto run = s.prepare({m.train, m.loss}, {m.x, m.label});
  const HostTensor x = HostTensor::full({16, 32}, f32, 0.1), other = HostTensor::full({16, 32}, f32, 0.2),
                   label({16}, i32);
  for (int i = 0; i < 2; ++i) run.feed(0, x), run.feed(1, label), run.run();
  run.feed(0, other), run.run();
  EXPECT_EQ(count_allocations([&] {
              run.feed(0, x);
              run.feed(1, label);
              run.run();
              run.feed(0, other);
              run.run();
            }),
            0);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Allocations, ::testing::Bool());

TEST(Allocation, the_hook_counts_ours) {
  EXPECT_GT(count_allocations([] {
              std::vector<int>* volatile p = new std::vector<int>(8);
              delete p;
            }),
            0);
}

}  // namespace
}  // namespace martello
