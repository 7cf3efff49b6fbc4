// Single layers with made-up weights against the numbers of another framework: tests/golden/make_layers.py.
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/models/activations.h>
#include <martello/models/batch_norm.h>
#include <martello/models/blocks.h>
#include <martello/models/conv.h>
#include <martello/models/fully_connected.h>
#include <martello/models/internal/golden.h>
#include <martello/models/lstm.h>
#include <martello/models/norms.h>
#include <martello/models/pooling.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/gru.h>
#include <martello/ops/initializers.h>
#include <martello/runtime/session.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

void set_weights(Session& session) {
  for (const Variable& v : global_variables()) {
    const std::string& name = v.handle().name();
    if (is_floating(v.dtype())) session.set(v.handle(), internal::golden_weight(name, v.shape(), v.dtype()));
  }
}

// All values in a row are those of the file.
void expect_golden(const std::string& name, const HostTensors& values, double tolerance) {
  const std::vector<double> expected = internal::read_golden(MARTELLO_GOLDEN, name);
  size_t next = 0;
  for (const HostTensor& value : values)
    for (int64_t i = 0; i < value.num_elements(); ++i, ++next) {
      ASSERT_LT(next, expected.size());
      ASSERT_NEAR(value.at(i), expected[next], tolerance) << next;
    }
  EXPECT_EQ(next, expected.size());
}

using Layer = std::function<TensorList(Tensor)>;

void expect_layer(const std::string& name, const Shape& shape, const Layer& layer) {
  for (DType dtype : {f64, f32}) {
    SCOPED_TRACE(str(name, " ", dtype));
    GraphScope g;
    TowerContext tower("", true);
    const TensorList ys = layer(placeholder(shape, dtype, "x"));
    Session session;
    set_weights(session);
    expect_golden(name, session.run(ys, {{"x", internal::golden_image(shape, dtype)}}), dtype == f64 ? 2e-9 : 1e-5);
  }
}
void expect_layer(const std::string& name, const Layer& layer) { expect_layer(name, {2, 9, 7, 6}, layer); }

TEST(GoldenLayers, convolutions) {
  expect_layer("layer_conv2d_same", [](Tensor x) {
    return conv2d("layer", x, {.filters = 5, .kernel = {4, 3}, .stride = 2, .activation = relu});
  });
  expect_layer("layer_conv2d_groups", [](Tensor x) {
    return conv2d("layer", x,
                  {.filters = 8, .stride = {1, 2}, .padding = {2, 2, 1, 1}, .dilation = {2, 1}, .groups = 2});
  });
  expect_layer("layer_conv2d_transpose",
               [](Tensor x) { return conv2d_transpose("layer", x, {.filters = 5, .kernel = 4, .stride = 2}); });
  expect_layer("layer_depth_conv", [](Tensor x) { return depth_conv("layer", x, {.filters = 12}); });
}

TEST(GoldenLayers, pooling) {
  const Pooling options{.size = 3, .stride = 2, .padding = {1, 1, 1, 1}};
  expect_layer("layer_max_pooling", [&](Tensor x) { return max_pooling("layer", x, options); });
  expect_layer("layer_avg_pooling", [&](Tensor x) { return avg_pooling("layer", x, options); });
  expect_layer("layer_global_avg_pooling", [](Tensor x) { return global_avg_pooling("layer", x); });
}

TEST(GoldenLayers, unpooling) {
  expect_layer("layer_fixed_unpooling", [](Tensor x) { return fixed_unpooling("layer", x); });
  const auto matrix = HostTensor::of<double>({1, 0.5, -0.25, 0, 2, -1}, {2, 3});
  expect_layer("layer_fixed_unpooling_matrix", [&](Tensor x) {
    return fixed_unpooling("layer", x, {.size = {2, 3}, .matrix = matrix});
  });
}

TEST(GoldenLayers, channels) {
  expect_layer("layer_maxout", [](Tensor x) { return maxout("layer", x, {.units = 3}); });
  expect_layer("layer_concat_with", [](Tensor x) { return concat_with("layer", x, {2 * x}, 3); });
  expect_layer("layer_channel_shuffle", [](Tensor x) { return channel_shuffle(x, 3); });
}

// The output in training, the averages after that step, the output in inference with them.
void expect_batch_norm(const std::string& name, const Shape& shape) {
  for (DType dtype : {f64, f32}) {
    SCOPED_TRACE(str(name, " ", dtype));
    GraphScope g;
    const Tensor x = placeholder(shape, dtype, "x");
    const auto build = [&](const char* tower_name, bool is_training) {
      VariableScope shared("", is_training ? Reuse::no : Reuse::yes);
      TowerContext tower(tower_name, is_training);
      return batch_norm("layer", x);
    };
    const LayerOutput train = build("train", true), test = build("test", false);
    std::vector<Fetch> step = {train};
    for (const Operation& update : g.graph().collections().get(kUpdateOps)) step.push_back(update);
    Session session;
    set_weights(session);
    const Feeds feeds = {{"x", internal::golden_image(shape, dtype)}};
    HostTensors values = {session.run(step, feeds)[0]};
    values.push_back(session.get("layer/mean/EMA"));
    values.push_back(session.get("layer/variance/EMA"));
    values.push_back(session.eval(test, feeds));
    expect_golden(name, values, dtype == f64 ? 2e-9 : 1e-5);
  }
}

TEST(GoldenLayers, batch_norm) {
  expect_batch_norm("layer_batch_norm_images", {2, 9, 7, 6});
  expect_batch_norm("layer_batch_norm_matrix", {7, 6});
}

// The outputs of three steps, the variables after them, the output in inference.
void expect_batch_renorm(const std::string& name, const Shape& shape) {
  for (DType dtype : {f64, f32}) {
    SCOPED_TRACE(str(name, " ", dtype));
    GraphScope g;
    const Tensor x = placeholder(shape, dtype, "x");
    const auto build = [&](const char* tower_name, bool is_training) {
      VariableScope shared("", is_training ? Reuse::no : Reuse::yes);
      TowerContext tower(tower_name, is_training);
      return batch_renorm("layer", x,
                          {.rmax = 1.1, .dmax = 0.0625, .momentum = 0.75, .renorm_momentum = 0.875, .epsilon = 1e-3});
    };
    const LayerOutput train = build("train", true), test = build("test", false);
    std::vector<Fetch> fetches = {train};
    for (const Operation& update : g.graph().collections().get(kUpdateOps)) fetches.push_back(update);
    Session session;
    for (const Variable& v : trainable_variables())
      session.set(v.handle(), internal::golden_weight(v.handle().name(), v.shape(), dtype));
    HostTensors values;
    Feeds feeds;
    for (int step = 0; step < 3; ++step) {
      feeds = {{"x", internal::golden_values(str("step", step), shape, dtype, {(step - 1) * 0.25, (step + 1) * 0.5})}};
      values.push_back(session.run(fetches, feeds)[0]);
    }
    for (const char* v : {"moving_mean", "moving_variance", "renorm_mean", "renorm_stddev", "renorm_mean_weight"})
      values.push_back(session.get(str("layer/", v)));
    EXPECT_EQ(session.get("layer/renorm_stddev_weight").at(0), session.get("layer/renorm_mean_weight").at(0));
    values.push_back(session.eval(test, feeds));
    expect_golden(name, values, dtype == f64 ? 1e-8 : 2e-5);
  }
}

TEST(GoldenLayers, batch_renorm) {
  expect_batch_renorm("layer_batch_renorm_images", {2, 9, 7, 6});
  expect_batch_renorm("layer_batch_renorm_matrix", {7, 6});
}

TEST(GoldenLayers, norms) {
  expect_layer("layer_layer_norm_images", [](Tensor x) { return layer_norm("layer", x); });
  expect_layer("layer_layer_norm_sequence", {2, 5, 6}, [](Tensor x) { return layer_norm("layer", x); });
  expect_layer("layer_instance_norm", [](Tensor x) { return instance_norm("layer", x); });
  expect_layer("layer_group_norm", [](Tensor x) { return group_norm("layer", x, {.groups = 3}); });
}

TEST(GoldenLayers, dense_and_activations) {
  expect_layer("layer_bn_relu", [](Tensor x) { return bn_relu("layer", x); });
  expect_layer("layer_prelu", [](Tensor x) { return prelu("layer", x); });
  expect_layer("layer_fully_connected",
               [](Tensor x) { return fully_connected("layer", x, {.units = 5, .activation = sigmoid}); });
}

TEST(GoldenLayers, lstm_with_lengths) {
  expect_layer("layer_lstm", {3, 5, 6}, [](Tensor x) {
    const Tensor lengths = constant(HostTensor::of<int32_t>({5, 2, 3}));
    const auto [y, states] = lstm("layer", x, {.units = 4, .lengths = lengths});
    return TensorList{y, states[0].h, states[0].c};
  });
}

TEST(GoldenLayers, gru_with_lengths) {
  expect_layer("layer_gru", {3, 5, 6}, [](Tensor x) {
    const VariableScope scope("layer");
    const auto weight = [&](const char* name, const Shape& shape) {
      return get_variable(name, {.shape = shape, .dtype = x.dtype(), .initializer = zeros()});
    };
    const GruWeights weights{weight("Wx", {6, 12}), weight("bx", {12}), weight("Wh", {4, 12}), weight("bh", {12})};
    const auto [y, h] = gru(x, weights, {}, {.lengths = constant(HostTensor::of<int32_t>({5, 2, 3}))});
    return TensorList{y, h};
  });
}

}  // namespace
}  // namespace martello
