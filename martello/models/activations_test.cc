#include <martello/models/activations.h>

#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/models/dropout.h>
#include <martello/models/fully_connected.h>
#include <martello/models/linear_wrap.h>
#include <martello/ops/activation.h>
#include <martello/ops/concat.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensor numbers(Shape shape) { return randn(std::move(shape)).cast(f32); }

TEST(PReLU, has_one_slope) {
  GraphScope g;
  const auto y = prelu("act", constant(HostTensor::of<float>({-2, 3})), {.init = 0.25});
  EXPECT_EQ(y.name(), "act/prelu");
  EXPECT_EQ(y.variables()["alpha"].name(), "act/alpha");
  EXPECT_EQ(y.variables()["alpha"].shape(), Shape());
  const HostTensor value = Session().eval(y);
  EXPECT_FLOAT_EQ(value.at(0), -0.5);
  EXPECT_FLOAT_EQ(value.at(1), 3);
  const Tensor slope = gradients(reduce_sum(y), {y.variables()["alpha"].handle()})[0];
  EXPECT_FLOAT_EQ(Session().eval(slope).at(0), -2);
}

TEST(BnRelu, is_a_layer_and_an_activation) {
  GraphScope g;
  TowerContext tower("", true);
  const Tensor x = placeholder({4, 3}, f32, "x");
  EXPECT_EQ(bn_relu("pre", x).name(), "pre/relu");
  fully_connected("fc", x, {.units = 2, .activation = bn_relu});
  for (const char* name : {"pre/bn/gamma", "pre/bn/mean/EMA", "fc/bn/beta", "fc/bn/variance/EMA"})
    EXPECT_TRUE(g.graph().find_tensor(name).has_value()) << name;
}

TEST(Maxout, takes_the_largest_of_neighbouring_channels) {
  GraphScope g;
  const Tensor x = constant(HostTensor::of<float>({1, 5, 2, 4, 3, 0}, {1, 6}));
  const auto y = maxout("m", x, {.units = 3});
  EXPECT_TRUE(Session().eval(y).same_bits(HostTensor::of<float>({5, 4}, {1, 2})));
  EXPECT_EQ(maxout("image", placeholder({kUnknown, 2, 2, 6}, f32, "x"), {.units = 2}).shape().str(), "[?, 2, 2, 3]");
}

TEST(Maxout, takes_images_of_any_size) {
  GraphScope g;
  const Tensor x = placeholder({kUnknown, kUnknown, kUnknown, 6}, f32, "x");
  const auto y = maxout("m", x, {.units = 3});
  EXPECT_EQ(y.shape().str(), "[?, ?, ?, 2]");
  Session s;
  EXPECT_TRUE(s.eval(y, {{x, iota({1, 1, 2, 6}, f32)}}).same_bits(HostTensor::of<float>({2, 5, 8, 11}, {1, 1, 2, 2})));
  EXPECT_EQ(s.eval(y, {{x, HostTensor({0, 3, 4, 6}, f32)}}).shape(), Shape(0, 3, 4, 2));
  EXPECT_EQ(s.eval(y, {{x, HostTensor({2, 0, 4, 6}, f32)}}).shape(), Shape(2, 0, 4, 2));
}

TEST(Dropout, drops_in_training_only) {
  GraphScope g;
  const Tensor x = constant(HostTensor::full({1000}, f32, 1));
  Tensor train, test, forced;
  {
    TowerContext tower("train", true);
    train = dropout("drop", x, {.rate = 0.25});
    EXPECT_EQ(train.name(), "train/drop/dropout");
  }
  {
    TowerContext tower("test", false);
    test = dropout("drop", x, {.rate = 0.25});
    EXPECT_EQ(test.name(), "test/drop/dropout");
    forced = dropout("forced", x, {.rate = 0.25, .training = true});
  }
  Session s;
  EXPECT_TRUE(s.eval(test).same_bits(HostTensor::full({1000}, f32, 1)));
  for (const Tensor& t : {train, forced}) {
    int dropped = 0;
    const HostTensor value = s.eval(t);
    for (float v : value.data<float>()) {
      EXPECT_TRUE(v == 0 || std::abs(v - 1 / 0.75f) < 1e-6f) << v;
      dropped += v == 0;
    }
    EXPECT_NEAR(dropped, 250, 60);
  }
}

TEST(ConcatWith, puts_tensors_beside_x) {
  GraphScope g;
  const HostTensor a = numbers({2, 3}), b = numbers({2, 1}), c = numbers({2, 2});
  const auto y = concat_with("cat", constant(a), {constant(b), constant(c)}, 1);
  EXPECT_EQ(y.name(), "cat/concat");
  EXPECT_EQ(y.shape(), Shape(2, 6));
  EXPECT_EQ(Session().eval(y).at(3), b.at(0));
}

TEST(LinearWrap, gives_the_same_graph_as_calls) {
  const auto text = [](bool is_wrapped) {
    GraphScope g;
    TowerContext tower("", true);
    const Tensor x = placeholder({2, 4}, f32, "x");
    if (is_wrapped) {
      LinearWrap(x)
          .fully_connected("fc0", {.units = 6, .activation = relu})
          .maxout("m", {.units = 2})
          .prelu("p")
          .apply([](Tensor t) { return relu(t, "r"); })
          .apply(relu, "again")
          .apply2(fully_connected, "fc1", FullyConnected{.units = 2}, SourceLine::current())
          .tensor();
    } else {
      Tensor y = maxout("m", fully_connected("fc0", x, {.units = 6, .activation = relu}), {.units = 2});
      y = relu(relu(prelu("p", y), "r"), "again");
      fully_connected("fc1", y, {.units = 2});
    }
    std::string nodes;
    for (const Operation& op : g.graph().operations()) nodes += op.name() + " " + op.type() + "\n";
    return nodes;
  };
  EXPECT_EQ(text(true), text(false));
}

OP_REFUSES(activation_layers, dropout_outside_a_tower, [] { dropout("drop", placeholder({2}, f32, "x")); },
           {"[dropout 'drop']", "outside a tower"});
OP_REFUSES(activation_layers, dropout_of_everything,
           [] {
             TowerContext tower("", false);
             dropout("drop", placeholder({2}, f32, "x"), {.rate = 1});
           },
           {"[dropout 'drop'] rate is 1"});
OP_REFUSES(activation_layers, maxout_without_units,
           [] {
             maxout("m", placeholder({2, 4}, f32, "x"));
           },
           {"[maxout 'm'] units is 0"});
OP_REFUSES(activation_layers, maxout_units_that_do_not_divide,
           [] {
             maxout("m", placeholder({2, 4}, f32, "x"), {.units = 3});
           },
           {"[maxout 'm'] units is 3", "4 channels"});
OP_REFUSES(activation_layers, concat_with_nothing,
           [] {
             concat_with("c", placeholder({2, 4}, f32, "x"), {}, 1);
           },
           {"[concat_with 'c']", "no tensor"});
OP_REFUSES(activation_layers, bn_relu_outside_a_tower,
           [] {
             bn_relu("pre", placeholder({2, 4}, f32, "x"));
           },
           {"[batch_norm 'pre/bn']", "outside a tower"});

}  // namespace
}  // namespace martello::testing
