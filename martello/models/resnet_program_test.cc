// The model of a user's ResNet program: batch norm, nested ArgScopes, residual blocks; built and trained in a Session.
#include <martello/graph/core_ops.h>
#include <martello/models/activations.h>
#include <martello/models/arg_scope.h>
#include <martello/models/linear_wrap.h>
#include <martello/models/regularize.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/pad.h>
#include <martello/ops/reduce.h>
#include <martello/ops/sparse_softmax_cross_entropy.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

#include <cmath>

namespace mt = martello;

namespace {

mt::Tensor block(mt::Tensor x, const std::string& name, int filters, int stride) {
  mt::VariableScope vs(name);
  mt::NameScope ns(name);
  auto shortcut = x;
  if (stride != 1) shortcut = mt::pad_channels(mt::avg_pooling("pool", x, {.size = 2}), filters / 4, filters / 4);
  auto y = mt::conv2d("conv1", x, {.filters = filters, .stride = stride, .activation = mt::bn_relu});
  y = mt::conv2d("conv2", y, {.filters = filters, .activation = mt::identity});  // overrides the scope: no activation
  y = mt::batch_norm("bn2", y, {.gamma_init = mt::zeros()});
  return mt::relu(y + shortcut);
}

mt::Tensor build_graph(mt::TensorList in, int n) {
  auto [image, label] = in.unpack<2>();
  mt::ArgScope outer(mt::Conv2D{.kernel = 3, .use_bias = false, .kernel_init = mt::truncated_normal(0.02)},
                     mt::BatchNorm{.momentum = 0.95});
  mt::Tensor x;
  {
    mt::ArgScope inner(mt::Conv2D{.activation = mt::bn_relu});
    x = mt::conv2d("conv0", image / 128.f - 1, {.filters = 16});
  }
  for (int stage = 0; stage < 3; ++stage)
    for (int i = 0; i < n; ++i)
      x = block(x, "res" + std::to_string(stage) + "." + std::to_string(i), 16 << stage, stage > 0 && i == 0 ? 2 : 1);
  auto logits = mt::LinearWrap(x)
                    .global_avg_pooling("gap")
                    .fully_connected("fc", {.units = 10})
                    .apply([](mt::Tensor t) { return mt::identity(t, "logits"); })
                    .tensor();
  auto cost = mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, label), "cross_entropy_loss");
  return cost + mt::regularize_cost(".*/W", mt::l2_regularizer(2e-4));
}

// Noise around a brightness that tells the label: means over all pixels keep it.
mt::HostTensor images() {
  mt::HostTensor x = mt::testing::uniform({8, 32, 32, 3}, -20, 20);
  const int64_t sample = x.num_elements() / 8;
  for (int64_t i = 0; i < x.num_elements(); ++i) x.set(i, x.at(i) + static_cast<double>(20 + 30 * (i / sample)));
  return x.cast(mt::f32);
}

TEST(ResNetProgram, trains_in_a_session) {
  mt::GraphScope g;
  mt::TowerContext tower("", true);
  auto image = mt::placeholder({mt::kUnknown, 32, 32, 3}, mt::f32, "image");
  auto label = mt::placeholder({mt::kUnknown}, mt::i32, "label");
  auto cost = build_graph({image, label}, 3);
  int64_t parameters = 0;
  for (const mt::Variable& v : mt::trainable_variables()) parameters += v.shape().num_elements();
  EXPECT_EQ(parameters, 269722);
  EXPECT_EQ(g.graph().get_tensor("res1.0/conv1/W").shape(), mt::Shape(3, 3, 16, 32));
  EXPECT_TRUE(g.graph().find_tensor("res1.0/conv1/bn/mean/EMA").has_value());
  EXPECT_TRUE(g.graph().find_tensor("res0.2/bn2/gamma").has_value());

  auto train = mt::Momentum(0.1).minimize(cost);
  std::vector<mt::Fetch> fetches = {cost, train};
  for (const mt::Operation& update : g.graph().collections().get(mt::kUpdateOps)) fetches.push_back(update);
  EXPECT_EQ(fetches.size(), 2u + 2 * 19);

  mt::Session session;
  auto step = session.prepare(fetches, {image, label});
  step.feed(0, images());
  step.feed(1, mt::HostTensor::of<int32_t>({0, 1, 2, 3, 4, 5, 6, 7}));
  std::vector<double> losses;
  for (int i = 0; i < 16; ++i) {
    step.run();
    losses.push_back(step.value(0).at(0));
  }
  EXPECT_NEAR(losses.front(), std::log(10.0), 1.0);
  EXPECT_LT(losses.back(), losses.front() * 0.75);
  EXPECT_NE(session.get("conv0/bn/mean/EMA").at(0), 0);
}

}  // namespace
