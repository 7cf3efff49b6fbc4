#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/internal/lane.h>
#include <martello/runtime/internal/session_impl.h>

#include <gtest/gtest.h>

#include <cstring>

namespace martello {
namespace {

struct Mlp {
  Tensor x, loss;
  Operation train;
};

Mlp build_mlp(int layers, int64_t width) {
  Mlp m;
  m.x = placeholder({kUnknown, width}, f32, "x");
  Tensor h = m.x;
  for (int i = 0; i < layers; ++i) {
    VariableScope scope(str("fc", i));
    auto w = get_variable("W", {.shape = {width, width}, .initializer = random_normal_init(0.1)});
    auto b = get_variable("b", {.shape = {width}, .initializer = zeros()});
    h = tanh(matmul(h, w) + b);
  }
  m.loss = reduce_mean(square(h), "loss");
  m.train = Momentum(0.01).minimize(m.loss);
  return m;
}

// Two arenas filled with different patterns: a byte that differs from both patterns' places was written.
int64_t highest_byte_touched(Session& s, const Mlp& m, const HostTensor& x) {
  auto& impl = s.impl();
  auto signature = impl.resolve({m.train, m.loss}, {m.x});
  const auto plan = impl.get_plan(signature, {x.shape()});
  const int64_t bytes = plan->program->arena_bytes[0], guard = 4096;
  int64_t highest = 0;
  for (int pattern : {0x5a, 0xa5}) {
    const Buffer arena(bytes + guard);
    std::memset(arena.data(), pattern, static_cast<size_t>(bytes + guard));
    BoundProgram bound(plan->program, {arena.data()});
    bound.set_feed(0, x.raw());
    for (size_t i = 0; i < plan->variables.size(); ++i) bound.set_variable(i, impl.store.address(plan->variables[i]));
    bound.start(1);
    for (size_t segment = 0; segment < plan->program->segments.size(); ++segment)
      bound.run_segment(segment, 0, nullptr);
    for (int64_t i = 0; i < bytes + guard; ++i)
      if (static_cast<int>(arena.data()[i]) != pattern) highest = std::max(highest, i + 1);
  }
  return highest;
}

TEST(MemoryPlan, the_planned_peak_is_the_highest_byte_touched) {
  for (int64_t width : {16, 17, 64}) {
    GraphScope g;
    const Mlp m = build_mlp(6, width);
    Session s;
    const HostTensor x = HostTensor::full({32, width}, f32, 0.3);
    const int64_t planned = s.memory_plan({m.train, m.loss}, {{m.x, x}}).devices[0].arena_bytes;
    const int64_t touched = highest_byte_touched(s, m, x);
    EXPECT_LE(touched, planned);
    EXPECT_GT(touched, planned - Buffer::kAlignment) << "width " << width;
  }
}

TEST(MemoryPlan, a_twenty_layer_mlp_is_within_a_tenth_of_the_largest_live_set) {
  for (int64_t batch : {1, 64, 256, 1024}) {
    GraphScope g;
    const Mlp m = build_mlp(20, 128);
    Session s;
    const auto plan = s.memory_plan({m.train, m.loss}, {{m.x, HostTensor({batch, 128}, f32)}});
    const auto& device = plan.devices[0];
    EXPECT_LE(static_cast<double>(device.arena_bytes), 1.1 * static_cast<double>(device.largest_live_bytes))
        << "batch " << batch << "\n"
        << plan.str();
    EXPECT_FALSE(device.peak_node.empty());
    EXPECT_NE(plan.str().find("MiB"), std::string::npos);
  }
}

TEST(MemoryPlan, gradients_are_pinned_beside_each_other_like_their_variables) {
  GraphScope g;
  const Mlp m = build_mlp(4, 32);
  Session s;
  const Feeds feeds = {{m.x, HostTensor({8, 32}, f32)}};
  EXPECT_TRUE(s.plan_report({m.train}, feeds).pin_copies.empty());
}

TEST(MemoryPlan, results_do_not_depend_on_what_the_arena_held_before) {
  GraphScope g;
  const Mlp m = build_mlp(5, 24);
  Session clean, poisoned(g.graph(), {.poison_arena = true});
  const HostTensor x = HostTensor::full({8, 24}, f32, 0.2);
  for (int i = 0; i < 3; ++i) {
    const auto a = clean.run({m.train, m.loss}, {{m.x, x}}), b = poisoned.run({m.train, m.loss}, {{m.x, x}});
    EXPECT_TRUE(a[1].same_bits(b[1]));
  }
  EXPECT_TRUE(clean.get("fc0/W").same_bits(poisoned.get("fc0/W")));
}

}  // namespace
}  // namespace martello
