#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/dropout.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reduce.h>
#include <martello/ops/scan.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <optional>

namespace martello {
namespace {

using Names = std::vector<std::string>;
constexpr int kLayers = 20;
constexpr int64_t kWidth = 64;

struct Net {
  Graph graph;
  Tensor x, loss;
  Operation train;
};

struct NetOptions {
  bool has_scopes = true;
  double dropout = 0;
  bool is_residual = false;
  int devices = 1;
  bool has_one_scope = false;  // around the whole net
  bool has_penalty = false;    // on the gradient's norm: a gradient of a gradient
};

Net build(NetOptions options = {}) {
  GraphScope scope;
  Net net{.graph = scope.graph(), .x = placeholder({kUnknown, kWidth}, f32, "x"), .loss = {}, .train = {}};
  Tensor h = net.x;
  std::optional<RecomputeScope> all;
  if (options.has_one_scope) all.emplace();
  for (int i = 0; i < kLayers; ++i) {
    VariableScope layer(str("fc", i));
    DeviceScope on(str("cpu:", i % options.devices));
    const Tensor z = matmul(h, get_variable("W", {.shape = {kWidth, kWidth}, .initializer = random_normal_init(0.1)}));
    std::optional<RecomputeScope> again;
    if (options.has_scopes && !options.has_one_scope) again.emplace();
    Tensor y = tanh(gelu(z));
    if (options.dropout > 0) y = dropout(y, {.rate = options.dropout});
    h = options.is_residual ? h + y : y;
  }
  net.loss = reduce_mean(square(h), "loss");
  if (options.has_penalty) net.loss = net.loss + reduce_sum(square(gradients(net.loss, net.x)[0]));
  net.train = Momentum(0.01).minimize(net.loss);
  return net;
}

HostTensor feed(int64_t batch) {
  HostTensor x({batch, kWidth}, f32);
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, static_cast<double>(i * 37 % 101) / 50 - 1);
  return x;
}

int64_t peak(const Net& net, Names disabled = {}) {
  Session s(net.graph, {.disabled_passes = std::move(disabled)});
  return s.memory_plan({net.train, net.loss}, {{net.x, HostTensor({1024, kWidth}, f32)}}).devices[0].arena_bytes;
}

// Losses of some steps and the weights after them.
HostTensors train(const Net& net, Names disabled) {
  Session s(net.graph, {.disabled_passes = std::move(disabled), .poison_arena = true});
  HostTensors values;
  for (int i = 0; i < 3; ++i) values.push_back(s.run({net.train, net.loss}, {{net.x, feed(32)}})[1]);
  for (int i = 0; i < kLayers; ++i) values.push_back(s.get(str("fc", i, "/W")));
  return values;
}

void expect_same_bits(const Net& net) {
  ASSERT_NE(Session(net.graph).plan_report({net.train}, {{net.x, feed(32)}}).graph_text.find("/again"),
            std::string::npos);
  for (const Names& also : {Names{}, Names{"fuse"}, Names{"cse", "simplify"}}) {
    Names without = also;
    without.push_back("recompute");
    const HostTensors a = train(net, also), b = train(net, without);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].same_bits(b[i])) << i;
  }
}

TEST(Recompute, keeps_every_bit) { expect_same_bits(build()); }
TEST(Recompute, keeps_every_bit_of_residual_nets) { expect_same_bits(build({.is_residual = true})); }
TEST(Recompute, keeps_every_bit_with_one_scope_around_all) {
  expect_same_bits(build({.is_residual = true, .has_one_scope = true}));
}
TEST(Recompute, keeps_every_bit_on_several_devices) { expect_same_bits(build({.devices = 3})); }
TEST(Recompute, drops_out_the_same_numbers) { expect_same_bits(build({.dropout = 0.3})); }
TEST(Recompute, keeps_every_bit_of_gradients_of_gradients) { expect_same_bits(build({.has_penalty = true})); }

TEST(Recompute, keeps_every_bit_of_loops) {
  GraphScope scope;
  const Tensor x = placeholder({8, 4, 16}, f32, "x");
  const Tensor w = get_variable("w", {.shape = {16, 16}, .initializer = random_normal_init(0.3)});
  const auto step = [&](const TensorList& carried, const TensorList& row) {
    const Tensor z = matmul(carried[0], w) + row[0];
    RecomputeScope again;
    const Tensor h = dropout(tanh(gelu(z)), {.rate = 0.2});
    return ScanStep{h, h};
  };
  const ScanStep all = scan(step, {constant(HostTensor::full({4, 16}, f32, 0.1))}, {x});
  const Tensor dw = gradients(reduce_sum(square(all.ys[0])), w)[0];
  HostTensor value({8, 4, 16}, f32);
  for (int64_t i = 0; i < value.num_elements(); ++i) value.set(i, static_cast<double>(i % 13) / 10);
  Session with, without(scope.graph(), {.disabled_passes = {"recompute"}});
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(with.eval(dw, {{x, value}}).same_bits(without.eval(dw, {{x, value}}))) << i;
}

// One value per layer stays instead of two, or, with dropout, three.
TEST(Recompute, lowers_the_peak) {
  for (const auto& [options, most] : {std::pair(NetOptions{}, 0.65),
                                      {NetOptions{.dropout = 0.3}, 0.5},
                                      {NetOptions{.has_one_scope = true}, 0.65},
                                      {NetOptions{.is_residual = true}, 0.75},
                                      {NetOptions{.is_residual = true, .has_one_scope = true}, 0.75}}) {
    const Net net = build(options);
    const auto with = static_cast<double>(peak(net)), without = static_cast<double>(peak(net, {"recompute"}));
    EXPECT_LT(with, most * without) << "from " << without << " to " << with;
    std::printf("peak %.2f MiB instead of %.2f MiB\n", with / (1 << 20), without / (1 << 20));
  }
}

TEST(Recompute, changes_nothing_without_a_scope) {
  const Net net = build({.has_scopes = false});
  EXPECT_EQ(peak(net), peak(net, {"recompute"}));
}

TEST(Recompute, changes_nothing_without_gradients) {
  const Net net = build();
  Session s(net.graph);
  EXPECT_EQ(s.plan_report({net.loss}, {{net.x, feed(4)}}).graph_text.find("/again"), std::string::npos);
}

}  // namespace
}  // namespace martello
