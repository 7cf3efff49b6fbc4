#include <martello/models/regularize.h>

#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/models/fully_connected.h>
#include <martello/ops/initializers.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

void build_model() {
  const Tensor x = placeholder({2, 3}, f32, "x");
  const FullyConnected twos{.units = 2, .kernel_init = constant_init(2), .bias_init = constant_init(-1)};
  fully_connected("fc0", x, twos);
  fully_connected("fc1", x, twos);
  get_variable("steps", {.shape = {}, .initializer = ones(), .trainable = false});
}

double value_of(Tensor t) {
  EXPECT_EQ(t.dtype(), f32);
  return Session().eval(t).at(0);
}

TEST(Regularizers, follow_their_formulas) {
  GraphScope g;
  const auto w = get_variable("w", {.shape = {2}, .initializer = constant_init(HostTensor::of<float>({-3, 4}))});
  EXPECT_FLOAT_EQ(Session().eval(l2_regularizer(0.1)(w)).at(0), 0.1 * 25 / 2);
  EXPECT_FLOAT_EQ(Session().eval(l1_regularizer(0.1)(w)).at(0), 0.1 * 7);
}

TEST(RegularizeCost, matches_anywhere_in_the_names_of_trainable_variables) {
  GraphScope g;
  TowerContext tower("", true);
  build_model();
  const auto weigh = [](Variable w) { return l1_regularizer(1)(w); };
  EXPECT_FLOAT_EQ(value_of(regularize_cost("fc.*/W", weigh)), 24);
  EXPECT_FLOAT_EQ(value_of(regularize_cost("c1", weigh)), 12 + 2);
  EXPECT_FLOAT_EQ(value_of(regularize_cost("^fc0/b$", weigh)), 2);
  EXPECT_FLOAT_EQ(value_of(regularize_cost(".*", weigh)), 28);
  EXPECT_FLOAT_EQ(value_of(regularize_cost("steps", weigh)), 0);
  EXPECT_EQ(regularize_cost("fc.*/W", weigh, "decay").name(), "decay");
}

TEST(RegularizeCost, is_zero_in_inference) {
  GraphScope g;
  TowerContext tower("", false);
  build_model();
  EXPECT_FLOAT_EQ(value_of(regularize_cost(".*", l2_regularizer(1))), 0);
  EXPECT_FLOAT_EQ(value_of(regularize_cost_from_collection()), 0);
}

TEST(RegularizeCost, a_tower_with_own_variables_takes_those) {
  GraphScope g;
  {
    TowerContext tower("tower0", true, {.total = 2});
    build_model();
    EXPECT_FLOAT_EQ(value_of(regularize_cost("^fc./W", l1_regularizer(1))), 24);
  }
  TowerContext tower("tower1", true, {.variable_scope = "tower1", .index = 1, .total = 2});
  build_model();
  EXPECT_FLOAT_EQ(value_of(regularize_cost("^fc./W", l1_regularizer(1))), 24);
}

TEST(RegularizeCost, a_sharing_tower_takes_all) {
  GraphScope g;
  {
    TowerContext tower("tower0", true, {.total = 2});
    build_model();
  }
  VariableScope shared("", Reuse::yes);
  TowerContext tower("tower1", true, {.index = 1, .total = 2});
  EXPECT_FLOAT_EQ(value_of(regularize_cost("^fc./W", l1_regularizer(1))), 24);
}

TEST(RegularizeCost, sums_in_f32) {
  GraphScope g;
  TowerContext tower("", true);
  get_variable("a", {.shape = {2}, .dtype = f64, .initializer = ones()});
  get_variable("b", {.shape = {3}, .initializer = ones()});
  EXPECT_FLOAT_EQ(value_of(regularize_cost("[ab]", l1_regularizer(1))), 5);
}

TEST(RegularizeCost, warns_when_nothing_matches) {
  GraphScope g;
  TowerContext tower("", true);
  std::string last;
  logger::set_sink([&](logger::Level, std::string_view text) { last = text; });
  regularize_cost("no_such_layer", l2_regularizer(1));
  logger::set_sink({});
  EXPECT_NE(last.find("no trainable variable matches \"no_such_layer\""), std::string::npos) << last;
}

TEST(RegularizeCost, sums_the_collection) {
  GraphScope g;
  TowerContext tower("", true);
  const Tensor x = placeholder({2, 3}, f32, "x");
  fully_connected("fc", x, {.units = 2, .kernel_init = ones(), .kernel_regularizer = l1_regularizer(2)});
  get_variable("v", {.shape = {5}, .initializer = ones(), .regularizer = l1_regularizer(1)});
  EXPECT_FLOAT_EQ(value_of(regularize_cost_from_collection("all")), 12 + 5);
}

OP_REFUSES(regularize_cost, no_tower, [] { regularize_cost(".*", l2_regularizer(1)); },
           {"[regularize_cost]", "outside a tower"});
OP_REFUSES(regularize_cost, no_regular_expression,
           [] {
             TowerContext tower("", true);
             regularize_cost("fc(", l2_regularizer(1), "decay");
           },
           {"[regularize_cost 'decay'] \"fc(\" is not a regular expression"});
OP_REFUSES(regularize_cost, no_regularizer,
           [] {
             TowerContext tower("", true);
             regularize_cost("fc", Regularizer(), "decay");
           },
           {"[regularize_cost 'decay']", "empty"});

}  // namespace
}  // namespace martello::testing
