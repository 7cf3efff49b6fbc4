// Losses and their gradients against the numbers of another framework: tests/golden/make_losses.py.
#include <martello/autodiff/gradients.h>
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/models/internal/golden.h>
#include <martello/ops/binary.h>
#include <martello/ops/losses.h>
#include <martello/ops/norms.h>
#include <martello/ops/reduce.h>
#include <martello/ops/sparse_softmax_cross_entropy.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <functional>

namespace martello {
namespace {

using Loss = std::function<Tensor(Tensor x, Tensor fractions)>;

// The losses, then the gradient of their sum.
void expect_loss(const std::string& name, const Loss& loss) {
  const std::vector<double> expected = internal::read_golden(MARTELLO_GOLDEN, "loss_" + name);
  for (DType dtype : {f64, f32}) {
    SCOPED_TRACE(str(name, " ", dtype));
    GraphScope g;
    const Tensor x = placeholder({6, 5}, dtype, "x");
    const Tensor y = loss(3 * x, constant(internal::golden_values("label", {6, 5}, dtype, {0.5, 0.5})));
    const Tensor dx = gradients({reduce_sum(y)}, {x})[0] / 3;
    const HostTensors values = Session().run({y, dx}, {{"x", internal::golden_image({6, 5}, dtype)}});
    size_t next = 0;
    for (const HostTensor& value : values)
      for (int64_t i = 0; i < value.num_elements(); ++i, ++next) {
        ASSERT_LT(next, expected.size());
        ASSERT_NEAR(value.at(i), expected[next], dtype == f64 ? 2e-8 : 2e-5) << next;
      }
    EXPECT_EQ(next, expected.size());
  }
}

TEST(GoldenLosses, cross_entropies) {
  expect_loss("sparse_softmax", [](Tensor x, Tensor) {
    return sparse_softmax_cross_entropy(x, constant(HostTensor::of<int32_t>({4, 0, 2, 2, 1, 3})));
  });
  expect_loss("softmax", [](Tensor x, Tensor labels) { return softmax_cross_entropy(x, labels); });
  expect_loss("softmax_smoothed",
              [](Tensor x, Tensor labels) { return softmax_cross_entropy(x, labels, {.label_smoothing = 0.125}); });
  expect_loss("sigmoid", [](Tensor x, Tensor labels) { return sigmoid_cross_entropy(x, labels); });
  expect_loss("weighted_sigmoid",
              [](Tensor x, Tensor labels) { return weighted_sigmoid_cross_entropy(x, labels, 2.5); });
}

TEST(GoldenLosses, distances) {
  const auto huber = [](LossReduction reduction) -> Loss {
    return [=](Tensor x, Tensor target) { return huber_loss(x, target, {.delta = 0.75, .reduction = reduction}); };
  };
  expect_loss("huber", huber(LossReduction::none));
  expect_loss("huber_mean", huber(LossReduction::mean));
  expect_loss("huber_sum", huber(LossReduction::sum));
  expect_loss("l1", [](Tensor x, Tensor target) { return l1_loss(x, target); });
  expect_loss("mean_squared_error", [](Tensor x, Tensor target) { return mean_squared_error(x, target); });
  expect_loss("l2", [](Tensor x, Tensor) { return l2_loss(x); });
}

}  // namespace
}  // namespace martello
