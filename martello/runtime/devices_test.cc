#include <martello/autodiff/gradients.h>
#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/activation.h>
#include <martello/ops/add_n.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello {
namespace {

using testing::error_of;

Tensor tower(Tensor x, Tensor w) { return reduce_sum(tanh(matmul(tanh(matmul(x, w)), w))); }

TEST(Devices, values_cross_devices_and_results_agree_with_one_device) {
  GraphScope g;
  auto x = placeholder({8, 8}, f32, "x");
  auto w = get_variable("w", {.shape = {8, 8}, .initializer = random_normal_init(0.2)});
  const auto single = tower(x, w);
  TensorList parts;
  for (int d = 0; d < 4; ++d) {
    DeviceScope on(str("cpu:", d));
    parts.push_back(tower(x, w));
  }
  auto total = add_n(parts);
  Session s(g.graph(), {.disabled_passes = {"cse"}});
  const HostTensor value = HostTensor::full({8, 8}, f32, 0.3);
  const float one = s.eval(single, {{x, value}}).scalar<float>();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(s.eval(total, {{x, value}}).scalar<float>(), ((one + one) + one) + one);
  const auto plan = s.memory_plan(total, {{x, value}});
  EXPECT_EQ(plan.devices.size(), 4u);
}

TEST(Devices, a_chain_that_hops_between_devices_keeps_order) {
  GraphScope g;
  auto x = placeholder({64}, f32, "x");
  Tensor y = x;
  for (int i = 0; i < 40; ++i) {
    DeviceScope on(str("cpu:", i % 3));
    y = y + 1;
  }
  Session s(g.graph(), {.poison_arena = true});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(s.eval(y, {{x, HostTensor({64}, f32)}}).data<float>()[63], 40);
}

TEST(Devices, updates_run_where_their_variables_live) {
  GraphScope g;
  std::vector<Operation> ups;
  std::vector<Variable> vs;
  for (int d = 0; d < 3; ++d) {
    DeviceScope on(str("cpu:", d));
    vs.push_back(get_variable(str("v", d), {.shape = {16}, .initializer = zeros()}));
    ups.push_back(assign_add(vs.back(), d + 1));
  }
  Session s;
  auto run = s.prepare(group(ups));
  for (int i = 0; i < 10; ++i) run.run();
  for (int d = 0; d < 3; ++d) EXPECT_EQ(s.eval(vs[static_cast<size_t>(d)]).data<float>()[5], 10.f * float(d + 1));
}

TEST(Devices, an_error_on_one_device_ends_the_run_and_the_next_run_works) {
  GraphScope g;
  auto x = placeholder({4}, i32, "x");
  Tensor bad, good;
  {
    DeviceScope on("cpu:1");
    bad = floor_div(constant(HostTensor::of<int32_t>({8, 8, 8, 8})), x, "bad");
  }
  {
    DeviceScope on("cpu:2");
    good = bad + 1;
  }
  Session s;
  for (int i = 0; i < 10; ++i) {
    const std::string text = error_of([&] { s.run(good, {{x, HostTensor({4}, i32)}}); });
    EXPECT_CONTAINS(text, "'bad'");
    EXPECT_EQ(s.eval(good, {{x, HostTensor::full({4}, i32, 2)}}).data<int32_t>()[3], 5);
  }
}

TEST(Devices, gradients_follow_their_forward_nodes) {
  GraphScope g;
  auto x = placeholder({4, 4}, f32, "x");
  Tensor y;
  {
    DeviceScope on("cpu:1");
    y = reduce_sum(square(tanh(x)));
  }
  auto dx = gradients(y, x)[0];
  Session s;
  const auto values = s.run({dx}, {{x, HostTensor::full({4, 4}, f32, 0.5)}});
  const double t = std::tanh(0.5);
  EXPECT_NEAR(values[0].data<float>()[0], 2 * t * (1 - t * t), 1e-6);
  EXPECT_EQ(s.memory_plan(dx, {{x, HostTensor({4, 4}, f32)}}).devices.back().device, "cpu:1");
}

TEST(Devices, an_op_without_a_kernel_for_the_device_is_refused_with_the_way_out) {
  GraphScope g;
  DeviceScope on("cuda:0");
  auto y = square(placeholder({1}, f32, "x"), "y");
  Session s;
  const std::string text = error_of([&] { s.run(y, {{"x", HostTensor({1}, f32)}}); });
  EXPECT_CONTAINS(text, "'y'");
  EXPECT_CONTAINS(text, "CPU only");
}

}  // namespace
}  // namespace martello
