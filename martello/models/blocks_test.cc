#include <martello/models/blocks.h>

#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/models/conv.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

std::vector<std::string> names_of(const std::vector<Variable>& list) {
  std::vector<std::string> names;
  for (const Variable& v : list) names.push_back(v.name());
  return names;
}

Tensor image(int64_t channels) { return placeholder({kUnknown, 8, 8, channels}, f32, "x"); }

TEST(ChannelShuffle, deals_channels_out_to_groups) {
  GraphScope g;
  const Tensor y = channel_shuffle(constant(iota({1, 1, 1, 6}, f32)), 2);
  EXPECT_TRUE(Session().eval(y).same_bits(HostTensor::of<float>({0, 3, 1, 4, 2, 5}, {1, 1, 1, 6})));
  const Tensor first = channel_shuffle(constant(iota({1, 6, 1, 1}, f32)), 3, DataFormat::nchw);
  EXPECT_TRUE(Session().eval(first).same_bits(HostTensor::of<float>({0, 2, 4, 1, 3, 5}, {1, 6, 1, 1})));
}

TEST(ChannelShuffle, takes_images_of_any_size) {
  for (const DataFormat format : {DataFormat::nhwc, DataFormat::nchw}) {
    GraphScope g;
    const bool is_last = format == DataFormat::nhwc;
    const Tensor x = placeholder(
        is_last ? Shape(kUnknown, kUnknown, kUnknown, 6) : Shape(kUnknown, 6, kUnknown, kUnknown), f32, "x");
    const Tensor y = channel_shuffle(x, 2, format);
    EXPECT_EQ(y.shape().str(), x.shape().str());
    const HostTensor value = uniform(is_last ? Shape(2, 3, 5, 6) : Shape(2, 6, 3, 5), -1, 1).cast(f32);
    const Tensor known = channel_shuffle(constant(value), 2, format);
    EXPECT_TRUE(Session().eval(y, {{x, value}}).same_bits(Session().eval(known)));
  }
}

TEST(SqueezeExcite, scales_channels_by_their_means) {
  GraphScope g;
  const HostTensor x = uniform({1, 2, 2, 4}, 0, 1);
  const auto y = squeeze_excite("se", constant(x), {.ratio = 2});
  EXPECT_EQ(names_of(trainable_variables()),
            (std::vector<std::string>{"se/fc1/W", "se/fc1/b", "se/fc2/W", "se/fc2/b"}));
  Session s;
  s.set("se/fc1/W", HostTensor::full({4, 2}, f64, 0.5));
  s.set("se/fc2/W", HostTensor::full({2, 4}, f64, 0.25));
  double sum = 0;
  for (int64_t i = 0; i < 16; ++i) sum += x.at(i) / 4;
  const double factor = 1 / (1 + std::exp(-0.25 * sum));
  const HostTensor value = s.eval(y);
  for (int64_t i = 0; i < 16; ++i) EXPECT_NEAR(value.at(i), x.at(i) * factor, 1e-12);
}

TEST(Residual, basic_blocks_have_these_variables) {
  GraphScope g;
  TowerContext tower("", true);
  const auto y = residual_basic("block0", image(4), {.filters = 8, .stride = 2});
  EXPECT_EQ(y.name(), "block0/output");
  EXPECT_EQ(y.shape().str(), "[?, 4, 4, 8]");
  EXPECT_EQ(
      names_of(trainable_variables()),
      (std::vector<std::string>{"block0/convshortcut/W", "block0/convshortcut/bn/beta", "block0/convshortcut/bn/gamma",
                                "block0/conv1/W", "block0/conv1/bn/beta", "block0/conv1/bn/gamma", "block0/conv2/W",
                                "block0/conv2/bn/beta", "block0/conv2/bn/gamma"}));
  EXPECT_EQ(y.variables().size(), 9u + 6u);  // the averages of three norms
  EXPECT_EQ(y.variables()["conv1/bn/gamma"].name(), "block0/conv1/bn/gamma");
}

TEST(Residual, pre_activation_blocks_have_these_variables) {
  GraphScope g;
  TowerContext tower("", true);
  const auto y = residual_bottleneck("b", image(16), {.filters = 4, .order = ResidualOrder::pre});
  EXPECT_EQ(y.shape().str(), "[?, 8, 8, 16]");
  EXPECT_EQ(
      names_of(trainable_variables()),
      (std::vector<std::string>{"b/preact/bn/beta", "b/preact/bn/gamma", "b/conv1/W", "b/conv1/bn/beta",
                                "b/conv1/bn/gamma", "b/conv2/W", "b/conv2/bn/beta", "b/conv2/bn/gamma", "b/conv3/W"}));
}

TEST(Residual, starts_as_its_shortcut) {
  GraphScope g;
  TowerContext tower("", true);
  const HostTensor x = uniform({2, 4, 4, 4}, 0, 1).cast(f32);
  const auto y = residual_basic("b", constant(x), {.filters = 4});
  EXPECT_TRUE(Session().eval(y).same_bits(x));
}

TEST(Residual, groups_make_the_inner_kernel_narrow) {
  GraphScope g;
  TowerContext tower("", true);
  residual_bottleneck("b", image(16), {.filters = 8, .groups = 4});
  EXPECT_EQ(g.graph().get_tensor("b/conv2/W").shape(), Shape(3, 3, 2, 8));
}

TEST(Residual, shortcuts_that_pool_have_no_variables) {
  GraphScope g;
  TowerContext tower("", true);
  const HostTensor x = uniform({2, 4, 4, 4}, 0, 1).cast(f32);
  const auto y =
      residual_basic("b", constant(x), {.filters = 8, .stride = 2, .shortcut = ResidualShortcut::pool_and_pad});
  EXPECT_FALSE(g.graph().find_tensor("b/convshortcut/W").has_value());
  const HostTensor value = Session().eval(y);
  EXPECT_EQ(value.shape(), Shape(2, 2, 2, 8));
  EXPECT_EQ(value.at(0), 0);
  EXPECT_NEAR(value.at(2), (x.at(0) + x.at(4) + x.at(16) + x.at(20)) / 4, 1e-6);
}

// As the convolution beside it, which pads.
TEST(Residual, pooling_shortcuts_take_images_of_odd_size) {
  GraphScope g;
  TowerContext tower("", true);
  const HostTensor x = uniform({1, 3, 3, 2}, 0, 1);
  const auto y =
      residual_basic("b", constant(x), {.filters = 2, .stride = 2, .shortcut = ResidualShortcut::pool_and_pad});
  const HostTensor value = Session().eval(y);
  EXPECT_EQ(value.shape(), Shape(1, 2, 2, 2));
  EXPECT_NEAR(value.at(0), (x.at(0) + x.at(2) + x.at(6) + x.at(8)) / 4, 1e-6);
  EXPECT_NEAR(value.at(2), (x.at(4) + x.at(10)) / 2, 1e-6);
  EXPECT_NEAR(value.at(6), x.at(16), 1e-6);
}

// The loss of two residual blocks, its gradients and what their end gives, in the bits of a session without a pass.
HostTensors results_of_blocks(const Residual& options, bool training, const std::string& without) {
  GraphScope g;
  g.graph().set_seed(7);
  const HostTensor image = uniform({3, 16, 16, 16}, -1, 1).cast(f32);
  Tensor y = constant(image);
  {
    TowerContext tower("", training);
    y = conv2d("conv0", y, {.filters = 16, .data_format = *options.data_format});
    for (const char* name : {"block0", "block1"}) y = residual_basic(name, y, options);
  }
  TensorList fetches{y};
  const Tensor loss = reduce_mean(square(y));
  std::vector<Tensor> variables;
  for (const Variable& v : trainable_variables()) variables.push_back(v.handle());
  for (const Tensor& d : gradients(loss, TensorList(variables))) fetches.push_back(d);
  SessionOptions session;
  if (!without.empty()) session.disabled_passes = {without};
  return Session(g.graph(), session).run(fetches);
}

TEST(Residual, has_the_same_bits_without_fusion) {
  for (const ResidualOrder order : {ResidualOrder::post, ResidualOrder::pre})
    for (const DataFormat format : {DataFormat::nhwc, DataFormat::nchw})
      for (bool training : {true, false}) {
        const Residual options{.filters = 16, .order = order, .zero_gamma = false, .data_format = format};
        const HostTensors fused = results_of_blocks(options, training, ""),
                          plain = results_of_blocks(options, training, "fuse");
        ASSERT_EQ(fused.size(), plain.size());
        for (size_t i = 0; i < fused.size(); ++i)
          EXPECT_TRUE(fused[i].same_bits(plain[i])) << i << (training ? " training" : "");
      }
}

OP_REFUSES(blocks, residual_without_filters,
           [] {
             TowerContext tower("", true);
             residual_basic("b", image(4));
           },
           {"[residual_basic 'b'] filters is 0"});
OP_REFUSES(blocks, pooling_shortcut_to_fewer_channels,
           [] {
             TowerContext tower("", true);
             residual_basic("b", image(4), {.filters = 2, .shortcut = ResidualShortcut::pool_and_pad});
           },
           {"[residual_basic 'b']", "4 to 2 channels", "projection"});
OP_REFUSES(blocks, shuffle_of_groups_that_do_not_divide, [] { channel_shuffle(image(4), 3); },
           {"[channel_shuffle 'channel_shuffle'] groups is 3", "4 channels"});
OP_REFUSES(blocks, squeeze_of_more_than_there_is, [] { squeeze_excite("se", image(4)); },
           {"[squeeze_excite 'se'] ratio is 16", "4 channels"});
OP_REFUSES(blocks, an_error_of_an_inner_layer_names_all, [] { residual_basic("b", image(4), {.filters = 4}); },
           {"[batch_norm 'b/conv1/bn']", "outside a tower", "in layer [conv2d 'b/conv1']",
            "in layer [residual_basic 'b']"});

}  // namespace
}  // namespace martello::testing
