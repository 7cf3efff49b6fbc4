#include <martello/models/conv.h>

#include <martello/graph/core_ops.h>
#include <martello/models/activations.h>
#include <martello/models/arg_scope.h>
#include <martello/models/fully_connected.h>
#include <martello/models/pooling.h>
#include <martello/ops/activation.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

Tensor image(int64_t channels = 4) { return placeholder({kUnknown, 8, 6, channels}, f32, "x"); }

struct Expected {
  std::string name;
  Shape shape;
};
void expect_variables(const LayerOutput& y, const std::vector<Expected>& expected) {
  ASSERT_EQ(y.variables().size(), expected.size());
  size_t i = 0;
  for (const auto& [name, v] : y.variables()) {
    EXPECT_EQ(v.handle().name(), expected[i].name);
    EXPECT_EQ(v.shape(), expected[i].shape);
    ++i;
  }
}

TEST(ConvLayers, have_the_variables_of_checkpoints) {
  GraphScope g;
  expect_variables(conv2d("conv1", image(), {.filters = 6, .kernel = {3, 5}, .groups = 2}),
                   {{"conv1/W", {3, 5, 2, 6}}, {"conv1/b", {6}}});
  expect_variables(conv2d_transpose("deconv1", image(), {.filters = 6, .kernel = 5}),
                   {{"deconv1/W", {5, 5, 6, 4}}, {"deconv1/b", {6}}});
  expect_variables(depth_conv("depth1", image(), {.filters = 8}), {{"depth1/W", {3, 3, 4, 2}}});
  expect_variables(depth_conv("depth2", image(), {.use_bias = true}), {{"depth2/W", {3, 3, 4, 1}}, {"depth2/b", {4}}});
  expect_variables(conv2d("conv2", image(), {.filters = 6, .use_bias = false}), {{"conv2/W", {3, 3, 4, 6}}});
}

TEST(ConvLayers, have_these_shapes) {
  GraphScope g;
  EXPECT_EQ(conv2d("a", image(), {.filters = 5, .stride = 2}).shape().str(), "[?, 4, 3, 5]");
  EXPECT_EQ(conv2d("b", image(), {.filters = 5, .padding = Pad::valid}).shape().str(), "[?, 6, 4, 5]");
  EXPECT_EQ(conv2d("c", image(), {.filters = 5, .padding = {0, 1, 2, 3}}).shape().str(), "[?, 7, 9, 5]");
  EXPECT_EQ(conv2d_transpose("d", image(), {.filters = 5, .kernel = 4, .stride = 2}).shape().str(), "[?, 16, 12, 5]");
  EXPECT_EQ(max_pooling("e", image(), {.size = 2}).shape().str(), "[?, 4, 3, 4]");
  EXPECT_EQ(avg_pooling("f", image(), {.size = 3, .stride = 2, .padding = Pad::same}).shape().str(), "[?, 4, 3, 4]");
  EXPECT_EQ(global_avg_pooling("h", image()).shape().str(), "[?, 4]");
  const Tensor nchw = placeholder({2, 4, 8, 6}, f32, "nchw");
  EXPECT_EQ(conv2d("i", nchw, {.filters = 5, .data_format = DataFormat::nchw}).shape(), Shape(2, 5, 8, 6));
  EXPECT_EQ(global_avg_pooling("j", nchw, {.data_format = DataFormat::nchw}).shape(), Shape(2, 4));
}

TEST(ConvLayers, add_the_bias_before_the_activation) {
  for (DataFormat format : {DataFormat::nhwc, DataFormat::nchw}) {
    GraphScope g;
    const Tensor x = constant(HostTensor::full({1, 1, 1, 1}, f32, 3));
    const auto y = conv2d("c", x,
                          {.filters = 2,
                           .kernel = 1,
                           .activation = relu,
                           .kernel_init = constant_init(HostTensor::of<float>({1, -1}, {1, 1, 1, 2})),
                           .bias_init = constant_init(1),
                           .data_format = format});
    const HostTensor value = Session().eval(y);
    EXPECT_EQ(value.at(0), 4);
    EXPECT_EQ(value.at(1), 0);
  }
}

TEST(ConvLayers, start_from_a_normal_of_variance_two_by_fan_in) {
  GraphScope g;
  const auto y = conv2d("c", image(64), {.filters = 128, .kernel = 3, .groups = 2});
  const HostTensor w = Session().get("c/W");
  double squares = 0, largest = 0;
  for (float v : w.data<float>()) squares += v * v, largest = std::max<double>(largest, std::abs(v));
  const double stddev = std::sqrt(2.0 / (9 * 32));
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(w.num_elements())), stddev, stddev * 0.02);
  EXPECT_GT(largest, 3 * stddev);  // not truncated
  const auto t = conv2d_transpose("t", image(8), {.filters = 32, .kernel = 5});
  squares = 0;
  const HostTensor wt = Session().get("t/W");
  for (float v : wt.data<float>()) squares += v * v;
  // The fan-in of a transposed convolution counts output channels: dimension -2 of its kernel.
  EXPECT_NEAR(squares / static_cast<double>(wt.num_elements()), 2.0 / (25 * 32), 2.0 / (25 * 32) * 0.06);
}

TEST(ConvLayers, take_options_of_the_scopes_around_them) {
  GraphScope g;
  TowerContext tower("", true);
  const ArgScope outer(Conv2D{.filters = 3, .kernel = 5, .activation = bn_relu, .use_bias = false});
  const auto a = conv2d("a", image());
  EXPECT_EQ(a.variables()["W"].shape(), Shape(5, 5, 4, 3));
  EXPECT_TRUE(g.graph().find_tensor("a/bn/gamma").has_value());
  const ArgScope inner(Conv2D{.kernel = 1});
  const auto b = conv2d("b", image(), {.filters = 7, .activation = identity});
  EXPECT_EQ(b.variables()["W"].shape(), Shape(1, 1, 4, 7));
  EXPECT_FALSE(g.graph().find_tensor("b/bn/gamma").has_value());
  EXPECT_FALSE(b.variables().find("b").has_value());
}

OP_REFUSES(conv_layers, no_filters, [] { conv2d("c", image()); }, {"[conv2d 'c'] filters is 0", ".filters"});
OP_REFUSES(conv_layers, no_filters_transposed, [] { conv2d_transpose("c", image(), {.filters = -1}); },
           {"[conv2d_transpose 'c'] filters is -1"});
OP_REFUSES(conv_layers, kernel_of_zero,
           [] {
             conv2d("c", image(), {.filters = 2, .kernel = {3, 0}});
           },
           {"[conv2d 'c'] kernel is 0"});
OP_REFUSES(conv_layers, a_matrix,
           [] {
             conv2d("c", placeholder({2, 3}, f32, "x"), {.filters = 2});
           },
           {"[conv2d 'c'] x [2, 3] has 2 dimensions, the layer takes 4"});
OP_REFUSES(conv_layers, unknown_channels, [] { conv2d("c", image(kUnknown), {.filters = 2}); },
           {"[conv2d 'c']", "channels", "[?, 8, 6, ?]", "unknown"});
OP_REFUSES(conv_layers, groups_that_do_not_divide, [] { conv2d("c", image(), {.filters = 6, .groups = 4}); },
           {"[conv2d 'c'] groups is 4", "4 channels", "6 filters"});
OP_REFUSES(conv_layers, depth_filters_not_a_multiple, [] { depth_conv("c", image(), {.filters = 6}); },
           {"[depth_conv 'c'] filters is 6", "4 channels"});
OP_REFUSES(conv_layers, a_window_larger_than_the_image,
           [] { conv2d("c", image(), {.filters = 2, .kernel = 9, .padding = Pad::valid}); }, {"conv2d 'c", "9"});
OP_REFUSES(conv_layers, shared_with_other_channels,
           [] {
             VariableScope reuse("", Reuse::automatic);
             conv2d("c", image(4), {.filters = 2});
             conv2d("c", image(5), {.filters = 2});
           },
           {"[get_variable 'c/W'] exists with f32[3, 3, 4, 2]", "f32[3, 3, 5, 2]", "in layer [conv2d 'c']"});
OP_REFUSES(conv_layers, pooling_of_a_vector, [] { max_pooling("p", placeholder({7}, f32, "x")); },
           {"[max_pooling 'p'] x [7] has 1 dimensions"});
OP_REFUSES(conv_layers, pooling_of_nothing, [] { avg_pooling("p", image(), {.size = 0}); },
           {"[avg_pooling 'p'] size is 0"});

}  // namespace
}  // namespace martello::testing
