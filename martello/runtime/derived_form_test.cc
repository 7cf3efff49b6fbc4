#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/assign.h>
#include <martello/ops/conv2d.h>
#include <martello/ops/initializers.h>
#include <martello/ops/variable.h>
#include <martello/runtime/internal/session_impl.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

namespace martello {
namespace {

const Shape kKernel(3, 3, 32, 64), kImages(2, 8, 8, 32);

struct Net {
  Tensor x, y;
  Variable w;
};

Net build_net() {
  Net n;
  n.x = placeholder({kUnknown, 8, 8, 32}, f32, "x");
  n.w = get_variable("W", {.shape = kKernel, .initializer = constant_init(1)});
  n.y = conv2d(n.x, n.w);
  return n;
}

const Plan& plan_of(Session& s, const Net& n) {
  const auto signature = s.impl().resolve({n.y}, {n.x});
  return *s.impl().get_plan(signature, {kImages});
}

double first(Session& s, const Net& n) { return s.eval(n.y, {{n.x, HostTensor::full(kImages, f32, 1)}}).at(0); }

TEST(DerivedForm, is_made_once_per_version) {
  const GraphScope scope;
  const Net n = build_net();
  Session s;
  EXPECT_EQ(first(s, n), 4 * 32);
  const Plan& plan = plan_of(s, n);
  ASSERT_EQ(plan.derived.size(), 1u);
  // Spoiled on purpose: a run that does not make it again shows it.
  const Buffer& packed = plan.derived[0]->buffer;
  std::memset(packed.data(), 0, static_cast<size_t>(packed.size()));
  EXPECT_EQ(first(s, n), 0);
  s.set(n.w, HostTensor::full(kKernel, f32, 2));
  EXPECT_EQ(first(s, n), 8 * 32);
  s.run(assign(n.w, constant(HostTensor::full(kKernel, f32, 3))));
  EXPECT_EQ(first(s, n), 12 * 32);
}

TEST(DerivedForm, is_in_the_memory_plan) {
  const GraphScope scope;
  const Net n = build_net();
  Session s;
  first(s, n);
  EXPECT_GE(plan_of(s, n).program->memory.devices[0].derived_bytes, kKernel.num_elements() * 4);
}

TEST(DerivedForm, is_not_kept_by_a_plan_that_writes) {
  const GraphScope scope;
  const Net n = build_net();
  const Operation write = assign(n.w, constant(HostTensor::full(kKernel, f32, 5)));
  Session s;
  const HostTensor x = HostTensor::full(kImages, f32, 1);
  for (double expected : {1, 5, 5}) EXPECT_EQ(s.run({n.y, write}, {{n.x, x}})[0].at(0), 4 * 32 * expected);
  const auto signature = s.impl().resolve({n.y, write}, {n.x});
  EXPECT_TRUE(s.impl().get_plan(signature, {kImages})->derived.empty());
}

TEST(DerivedForm, serves_runs_at_once_while_the_variable_changes) {
  const GraphScope scope;
  const Net n = build_net();
  Session s;
  first(s, n);
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const double y = first(s, n) / (4 * 32);
        EXPECT_EQ(y, std::round(y));
      }
    });
  for (int i = 2; i < 30; ++i) s.set(n.w, HostTensor::full(kKernel, f32, i));
  for (std::thread& t : readers) t.join();
  EXPECT_EQ(first(s, n), 29 * 4 * 32);
}

}  // namespace
}  // namespace martello
