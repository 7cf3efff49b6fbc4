// Gradients that are products and that only their update needs: see Note [Updates by products].
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/optim/accumulate_gradients.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

// Large enough for LargeGemm, with a last panel and a last piece that are not full.
constexpr int64_t kRows = 900, kIn = 300, kOut = 1100;

struct Net {
  GraphScope scope;
  Tensor x;
  std::vector<Variable> vars;
  Tensor y;
};

Variable weights(const char* name, Shape shape) {
  return get_variable(name, {.shape = std::move(shape), .initializer = uniform_init(-0.1, 0.1)});
}

// y = x w + b
void build_layer(Net& net) {
  net.x = placeholder({kRows, kIn}, f32, "x");
  net.vars = {weights("w", {kIn, kOut}), weights("b", {kOut})};
  net.y = matmul(net.x, net.vars[0]) + net.vars[1];
}

// y = x + w0 w1: a factor of each gradient is a variable that the same update writes.
void build_two_variables(Net& net) {
  net.x = placeholder({kRows, kOut}, f32, "x");
  net.vars = {weights("w0", {kRows, kIn}), weights("w1", {kIn, kOut})};
  net.y = net.x + matmul(net.vars[0], net.vars[1]);
}

// All variables, slots included, after three steps. `fetched`: a gradient that the run returns too.
HostTensors train(void (*build)(Net&), Optimizer& optimizer, SessionOptions options, int fetched = -1) {
  Net net;
  build(net);
  const GradVars grads = optimizer.compute_gradients(reduce_mean(square(net.y)), net.vars);
  std::vector<Fetch> fetches{optimizer.apply_gradients(grads)};
  if (fetched >= 0) fetches.emplace_back(grads[static_cast<size_t>(fetched)].grad);
  Session s(net.scope.graph(), std::move(options));
  auto run = s.prepare(Fetches(std::move(fetches)), {net.x});
  HostTensor x(net.x.shape(), f32);
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, static_cast<double>(i * 37 % 1001) / 500 - 1);
  run.feed(0, x);
  for (int i = 0; i < 3; ++i) run.run();
  HostTensors values;
  for (const Operation& op : net.scope.graph().operations())
    if (std::string_view(op.type()) == "variable") values.push_back(s.get(op.name()));
  return values;
}

void expect_same(const HostTensors& a, const HostTensors& b, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].same_bits(b[i])) << what << ", variable " << i;
}

void expect_bits_of_gradients(void (*build)(Net&), Optimizer&& optimizer) {
  const HostTensors expected = train(build, optimizer, {.disabled_passes = {"fuse"}});
  for (int threads : {1, 2, 3}) expect_same(train(build, optimizer, {.threads = threads}), expected, "threads");
  expect_same(train(build, optimizer, {}, 0), expected, "a fetched gradient");
}

TEST(UpdateProduct, gives_the_bits_of_the_gradient_by_itself) {
  expect_bits_of_gradients(build_layer, GradientDescent(0.1));
  expect_bits_of_gradients(build_layer, Momentum(0.1, {.momentum = 0.9}));
  expect_bits_of_gradients(build_layer, AdamW(1e-2, {.weight_decay = 0.1}));
  expect_bits_of_gradients(build_layer, RMSProp(1e-2, {.momentum = 0.5, .centered = true}));
  expect_bits_of_gradients(build_layer, Lamb(1e-2));
  expect_bits_of_gradients(build_layer, AccumGradOptimizer(Momentum(0.1), 2));
}
TEST(UpdateProduct, reads_no_variable_that_has_been_written) {
  expect_bits_of_gradients(build_two_variables, Momentum(0.1, {.momentum = 0.9}));
}

TEST(UpdateProduct, needs_no_memory_for_the_gradient) {
  if (cpu::host_isa() != cpu::Isa::v4) GTEST_SKIP() << "the library makes such products at this level";
  Net net;
  build_layer(net);
  const Operation step = Momentum(0.1).minimize(reduce_mean(square(net.y)), net.vars);
  const Feeds feeds{{net.x, HostTensor(net.x.shape(), f32)}};
  const int64_t with = Session(net.scope.graph()).memory_plan(step, feeds).devices[0].arena_bytes;
  const int64_t without =
      Session(net.scope.graph(), {.disabled_passes = {"fuse"}}).memory_plan(step, feeds).devices[0].arena_bytes;
  EXPECT_LE(with + kIn * kOut * 4, without);
}

}  // namespace
}  // namespace martello
