// Ten steps of each optimizer against those of other frameworks.
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/unary.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <map>

namespace martello {
namespace {

struct Golden {
  const char* name;
  double w[10][4];
};
constexpr Golden kGolden[] = {
#include <martello/optim/golden_values.inc>
};

constexpr double kRate = 0.0625, kEpsilon = 0.0009765625;

std::map<std::string, Ref<Optimizer>> optimizers() {
  const MomentumOptions momentum{.momentum = 0.75}, nesterov{.momentum = 0.75, .nesterov = true};
  const AdadeltaOptions adadelta{.rho = 0.875, .epsilon = kEpsilon};
  const RMSPropOptions rms{.decay = 0.75, .momentum = 0.625, .epsilon = kEpsilon};
  const RMSPropOptions centered{.decay = 0.75, .momentum = 0.625, .epsilon = kEpsilon, .centered = true};
  return {
      {"gradient_descent", GradientDescent(kRate)},
      {"momentum", Momentum(kRate, momentum)},
      {"nesterov", Momentum(kRate, nesterov)},
      {"adam", Adam(kRate, {.beta1 = 0.75, .beta2 = 0.875, .epsilon = kEpsilon})},
      {"rms_prop", RMSProp(kRate, rms)},
      {"centered_rms_prop", RMSProp(kRate, centered)},
      {"adagrad", Adagrad(kRate, {.initial_accumulator = 0.125})},
      {"adadelta", Adadelta(0.5, adadelta)},
      {"lion", Lion(kRate, {.beta1 = 0.75, .beta2 = 0.875, .weight_decay = 0.125})},
      {"lamb", Lamb(kRate, {.beta1 = 0.75, .beta2 = 0.875, .epsilon = kEpsilon, .weight_decay = 0})},
      {"torch_momentum", Momentum(kRate, momentum)},
      {"torch_nesterov", Momentum(kRate, nesterov)},
      {"torch_adamw", AdamW(kRate, {.beta1 = 0.75, .beta2 = 0.875, .epsilon = kEpsilon, .weight_decay = 0.125})},
      {"torch_rms_prop", RMSProp(kRate, {.decay = 0.75, .momentum = 0.625, .epsilon = 0})},
      {"torch_adagrad", Adagrad(kRate, {.initial_accumulator = 0, .epsilon = kEpsilon})},
      {"torch_adadelta", Adadelta(0.5, adadelta)},
      {"numpy_lamb", Lamb(kRate, {.beta1 = 0.75, .beta2 = 0.875, .epsilon = kEpsilon, .weight_decay = 0.125})},
  };
}

// The gradient of w is c w + cos(w).
void follow(const Golden& golden, Optimizer& optimizer, DType dtype, double tolerance) {
  GraphScope g;
  const auto start = constant_init(HostTensor::of<double>({1, -0.5, 0.25, 2}).cast(dtype));
  const Variable w = get_variable("w", {.shape = {4}, .dtype = dtype, .initializer = start});
  const Tensor c = constant(HostTensor::of<double>({0.5, 1, 2, 4}).cast(dtype));
  const Operation step = optimizer.apply_gradients({{c * w + cos(w), w}});
  Session session;
  // PyTorch's mean square starts from 0.
  if (std::string(golden.name) == "torch_rms_prop") session.set("w/RMSProp", HostTensor({4}, dtype));
  for (int t = 0; t < 10; ++t) {
    session.run(step);
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(session.get(w).at(i), golden.w[t][i], tolerance) << golden.name << " step " << t << " element " << i;
  }
}

TEST(Golden, every_optimizer_follows_other_frameworks_for_ten_steps) {
  auto made = optimizers();
  for (const Golden& golden : kGolden) {
    ASSERT_TRUE(made.contains(golden.name)) << golden.name;
    const bool is_rough = std::string(golden.name) == "adam";  // TensorFlow keeps powers of beta in f32
    follow(golden, *made[golden.name], f64, is_rough ? 1e-8 : 1e-12);
    follow(golden, *made[golden.name], f32, 2e-5);
  }
  EXPECT_EQ(std::size(kGolden), made.size());
}

}  // namespace
}  // namespace martello
