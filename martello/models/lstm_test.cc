#include <martello/models/lstm.h>

#include <martello/graph/core_ops.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

Tensor sequence() { return placeholder({2, 5, 3}, f32, "x"); }
HostTensor numbers() { return randn({2, 5, 3}).cast(f32); }

TEST(Lstm, has_these_variables) {
  GraphScope g;
  const auto [y, states] = lstm("rnn", sequence(), {.units = 4, .layers = 2});
  EXPECT_EQ(y.name(), "rnn/output");
  EXPECT_EQ(y.shape(), Shape(2, 5, 4));
  EXPECT_EQ(states.size(), 2u);
  EXPECT_EQ(states[1].c.shape(), Shape(2, 4));
  EXPECT_EQ(g.graph().get_tensor("rnn/layer0/Wx").shape(), Shape(3, 16));
  EXPECT_EQ(g.graph().get_tensor("rnn/layer1/Wx").shape(), Shape(4, 16));
  EXPECT_EQ(g.graph().get_tensor("rnn/layer1/Wh").shape(), Shape(4, 16));
  EXPECT_EQ(g.graph().get_tensor("rnn/layer0/b").shape(), Shape(16));
  EXPECT_EQ(trainable_variables().size(), 6u);
}

TEST(Lstm, goes_on_from_a_state) {
  GraphScope g;
  const auto whole = lstm("rnn", sequence(), {.units = 4, .layers = 2});
  const VariableScope shared("", Reuse::yes);
  const HostTensor x = numbers();
  HostTensor a({2, 2, 3}, f32), b({2, 3, 3}, f32);
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t i = 0; i < 15; ++i) {
      if (i < 6) a.set(row * 6 + i, x.at(row * 15 + i));
      else b.set(row * 9 + i - 6, x.at(row * 15 + i));
    }
  const auto head = lstm("rnn", constant(a), {.units = 4, .layers = 2});
  const auto tail = lstm("rnn", constant(b), {.units = 4, .layers = 2}, head.states);
  const HostTensors values = Session().run({whole.y, tail.y, whole.states[0].c, tail.states[0].c}, {{"x", x}});
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t i = 0; i < 12; ++i) EXPECT_NEAR(values[0].at(row * 20 + 8 + i), values[1].at(row * 12 + i), 1e-6);
  for (int64_t i = 0; i < 8; ++i) EXPECT_NEAR(values[2].at(i), values[3].at(i), 1e-6);
}

TEST(Lstm, stops_at_lengths) {
  GraphScope g;
  const auto [y, states] = lstm("rnn", sequence(), {.units = 4, .lengths = constant(HostTensor::of<int32_t>({5, 2}))});
  const HostTensor value = Session().eval(y, {{"x", numbers()}});
  EXPECT_NE(value.at(20 + 4), 0);
  for (int64_t i = 8; i < 20; ++i) EXPECT_EQ(value.at(20 + i), 0);
}

TEST(Lstm, drops_outputs_in_training_only) {
  for (bool is_training : {true, false}) {
    GraphScope g;
    TowerContext tower("", is_training);
    const Tensor y = lstm("rnn", sequence(), {.units = 40, .dropout = 0.5}).y;
    int zeros = 0;
    const HostTensor value = Session().eval(y, {{"x", numbers()}});
    for (float v : value.data<float>()) zeros += v == 0;
    if (is_training) EXPECT_NEAR(zeros, 200, 60);
    else EXPECT_EQ(zeros, 0);
  }
}

OP_REFUSES(lstm_layer, no_units, [] { lstm("rnn", sequence()); }, {"[lstm 'rnn'] units is 0"});
OP_REFUSES(lstm_layer, no_layers, [] { lstm("rnn", sequence(), {.units = 4, .layers = 0}); },
           {"[lstm 'rnn'] layers is 0"});
OP_REFUSES(lstm_layer, a_matrix,
           [] {
             lstm("rnn", placeholder({2, 3}, f32, "x"), {.units = 4});
           },
           {"[lstm 'rnn'] x [2, 3] has 2 dimensions"});
OP_REFUSES(lstm_layer, states_of_other_layers,
           [] { lstm("rnn", sequence(), {.units = 4, .layers = 2}, {LstmState{}}); },
           {"[lstm 'rnn'] has 2 layers but was given 1 states"});
OP_REFUSES(lstm_layer, dropout_outside_a_tower, [] { lstm("rnn", sequence(), {.units = 4, .dropout = 0.5}); },
           {"[lstm 'rnn']", "outside a tower"});

}  // namespace
}  // namespace martello::testing
