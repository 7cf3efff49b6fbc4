// Weights after some steps, bit for bit: with and without fusion, with extra fetches, from run to run, and for our own
// kernels with any number of threads.
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
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

struct Model {
  Graph graph;
  Tensor x, label, loss, hidden, prob;
  Operation train;
};

Model build() {
  GraphScope g;
  Model m;
  m.graph = g.graph();
  m.x = placeholder({kUnknown, 48}, f32, "x");
  m.label = placeholder({kUnknown}, i32, "label");
  auto w0 = get_variable("w0", {.shape = {48, 96}}), w1 = get_variable("w1", {.shape = {96, 7}});
  auto b0 = get_variable("b0", {.shape = {96}, .initializer = zeros()});
  m.hidden = sigmoid(matmul(m.x, w0) + b0) * 1.5 - 0.25;
  auto dropped = m.hidden * cast(random_uniform({40, 96}) < 0.8, f32) / 0.8;
  auto logits = matmul(dropped, w1);
  m.prob = softmax(logits);
  m.loss = reduce_mean(sparse_softmax_cross_entropy(logits, m.label)) + 1e-4 * reduce_sum(square(w0));
  m.train = Adam(1e-2).minimize(m.loss);
  return m;
}

HostTensors weights_after(const Model& m, SessionOptions options, const Fetches& fetches) {
  Session s(m.graph, std::move(options));
  HostTensor x({40, 48}, f32), label({40}, i32);
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, static_cast<double>(i * 37 % 101) / 50 - 1);
  for (int64_t i = 0; i < 40; ++i) label.set(i, static_cast<double>(i % 7));
  auto run = s.prepare(fetches, {m.x, m.label});
  run.feed(0, x);
  run.feed(1, label);
  for (int i = 0; i < 8; ++i) run.run();
  return {s.get("w0"), s.get("w1"), s.get("b0")};
}

void expect_same(const HostTensors& a, const HostTensors& b) {
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].same_bits(b[i])) << i;
}

TEST(SameBits, fused_equals_unfused) {
  const Model m = build();
  expect_same(weights_after(m, {}, {m.train}), weights_after(m, {.disabled_passes = {"fuse"}}, {m.train}));
}

TEST(SameBits, no_pass_changes_a_bit) {
  const Model m = build();
  const auto expected = weights_after(m, {}, {m.train});
  for (const char* pass : {"fold_constants", "simplify", "cse"})
    expect_same(expected, weights_after(m, {.disabled_passes = {pass}}, {m.train}));
  expect_same(expected,
              weights_after(m, {.disabled_passes = {"fold_constants", "simplify", "cse", "fuse"}}, {m.train}));
}

TEST(SameBits, extra_fetches_change_nothing) {
  const Model m = build();
  const auto expected = weights_after(m, {}, {m.train});
  expect_same(expected, weights_after(m, {}, {m.train, m.loss}));
  expect_same(expected, weights_after(m, {}, {m.train, m.loss, m.hidden, m.prob}));
}

TEST(SameBits, run_to_run) {
  const Model m = build();
  for (int threads : {1, 2, 4})
    expect_same(weights_after(m, {.threads = threads}, {m.train}), weights_after(m, {.threads = threads}, {m.train}));
}

// Everything but matmul is ours.
TEST(SameBits, our_kernels_with_any_number_of_threads) {
  GraphScope g;
  auto x = placeholder({kUnknown, 1000}, f32, "x");
  auto label = placeholder({kUnknown}, i32, "label");
  auto w = get_variable("w", {.shape = {1000}, .initializer = ones()});
  auto noise = random_normal({700, 1000});
  auto y = tanh(x * w + noise) * sigmoid(x) - exp(0 - square(x));
  auto loss = reduce_mean(sparse_softmax_cross_entropy(y, label)) + reduce_sum(square(reduce_mean(y, {.axes = 0})));
  auto train = Momentum(0.1).minimize(loss);
  HostTensor value({700, 1000}, f32), labels({700}, i32);
  for (int64_t i = 0; i < value.num_elements(); ++i) value.set(i, static_cast<double>(i * 7919 % 1009) / 500 - 1);
  HostTensors first;
  for (int threads : {1, 2, 4}) {
    Session s(g.graph(), {.threads = threads});
    for (int i = 0; i < 2; ++i) s.run(train, {{x, value}, {label, labels}});
    HostTensors got = {s.get("w"), s.eval(softmax(y), {{x, value}})};
    if (first.empty()) first = got;
    else expect_same(first, got);
  }
}

}  // namespace
}  // namespace martello
