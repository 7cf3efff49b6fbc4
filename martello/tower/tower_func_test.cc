#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/tower/tower_func.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;

const std::vector<TensorSpec> kSignature = {{{kUnknown, 3}, f32, "x"}, {{kUnknown}, f32, "y"}};

TensorList placeholders() { return {placeholder({kUnknown, 3}, f32, "x_in"), placeholder({kUnknown}, f32, "y_in")}; }

Tensor line_cost(Tensor x, Tensor y) {
  const auto w = get_variable("line/w", {.shape = {3}});
  return reduce_mean(square(reduce_sum(x * w, {.axes = {1}}) - y), {}, "cost");
}

TensorList build(TowerFunc& f, const std::string& tower, bool is_training, TowerOptions options = {},
                 Reuse reuse = Reuse::no) {
  const VariableScope scope("", reuse);
  const TowerContext context(tower, is_training, std::move(options));
  return f(placeholders());
}

TEST(TowerFunc, builds_towers_and_remembers_them) {
  GraphScope g;
  TowerFunc f(line_cost, kSignature);
  EXPECT_EQ(f.towers().size(), 0u);
  const TensorList out = build(f, "tower0", true, {.total = 2});
  build(f, "tower1", true, {.index = 1, .total = 2}, Reuse::yes);
  build(f, "InferenceTower", false, {}, Reuse::yes);
  ASSERT_EQ(f.towers().size(), 3u);
  EXPECT_EQ(f.towers()[0].outputs()[0], out[0]);
  EXPECT_EQ(f.towers().training().size(), 2u);
  EXPECT_EQ(f.towers().inference()[0].name(), "InferenceTower");
  EXPECT_EQ(f.towers()["tower1"].index(), 1);
  EXPECT_EQ(f.input_signature()[1].name, "y");
  EXPECT_EQ(g.graph().collections().get(kTrainableVariables).size(), 1u);
}

TEST(TowerFunc, needs_a_tower) {
  GraphScope g;
  TowerFunc f(line_cost, kSignature);
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { f(placeholders()); }), "[tower function]");
}

TEST(TowerFunc, compares_arity_and_inputs_with_the_signature) {
  GraphScope g;
  EXPECT_CONTAINS(error_of([] { TowerFunc([](Tensor x) { return x; }, kSignature); }),
                  "takes 1 tensors but the signature has 2 inputs");
  EXPECT_NO_THROW(TowerFunc([](TensorList in) { return in[0]; }, kSignature));
  EXPECT_CONTAINS(error_of([] { TowerFunc(CostFn(), kSignature); }), "is empty");
  TowerFunc f(line_cost, kSignature);
  const TowerContext tower("", true);
  EXPECT_CONTAINS(error_of([&] { f({placeholder({1, 3}, f32, "a")}); }), "got 1 tensors but the signature has 2");
  const Tensor y = placeholder({4}, f32, "b");
  const std::string text = error_of([&] { f({placeholder({kUnknown, 4}, f32, "c"), y}); });
  for (const char* part : {"input 'x'", "f32[?, 3]", "f32[?, 4]"}) EXPECT_CONTAINS(text, part);
  EXPECT_CONTAINS(error_of([&] { f({placeholder({1, 3}, i32, "d"), y}); }), "i32[1, 3]");
  EXPECT_CONTAINS(error_of([&] { f({Tensor(), y}); }), "null Tensor");
}

TEST(TowerFunc, inputs_are_found_by_the_names_of_the_signature) {
  GraphScope g;
  TensorList seen;
  TowerFunc f(
      [&](TensorList in) {
        seen = {in["x"], in["y"]};
        return reduce_mean(in["x"]);
      },
      kSignature);
  const Tensor x = placeholder({kUnknown, 3}, f32, "queue/x"), y = placeholder({kUnknown}, f32, "y_1");
  const TowerContext tower("tower0", true);
  f({x, y});
  EXPECT_EQ(seen[0], x);
  EXPECT_EQ(seen[1].name(), "tower0/inputs/y");
  EXPECT_EQ(f.towers()[0]["y"], y);
}

TEST(TowerFunc, refuses_bad_names_in_a_signature) {
  for (const char* name : {"a:b", "a/b", "a b", ""})
    EXPECT_THROW(check_signature({{{1}, f32, name}}, "test"), InvalidArgument) << name;
  const std::string text = error_of([] { check_signature({{{1}, f32, "a"}, {{2}, f32, "a"}}, "test"); });
  for (const char* part : {"inputs 0 and 1", "'a'", "tower_func_test.cc"}) EXPECT_CONTAINS(text, part);
}

// The error of a tower function that is called in a training tower of its own.
std::string error_in_tower(const CostFn& cost, const std::string& tower = "tower0", TowerOptions options = {}) {
  GraphScope g;
  TowerFunc f(cost, kSignature);
  return error_of([&] { build(f, tower, true, options); });
}

void expect_rule(const std::string& text, int rule, std::initializer_list<const char*> parts) {
  EXPECT_CONTAINS(text, str("rule ", rule, " of tower functions").c_str());
  EXPECT_CONTAINS(text, "tower_func_test.cc") << "the user's line";
  for (const char* part : parts) EXPECT_CONTAINS(text, part);
}

TEST(TowerRules, rule_1_a_tower_that_asks_for_other_variables) {
  GraphScope g;
  int calls = 0;
  TowerFunc f(
      [&](Tensor x, Tensor y) {
        const auto w = get_variable(calls++ == 0 ? "w" : "w2", {.shape = {3}});
        return reduce_mean(square(reduce_sum(x * w, {.axes = {1}}) - y));
      },
      kSignature);
  build(f, "tower0", true, {.total = 2});
  expect_rule(error_of([&] { build(f, "tower1", true, {.index = 1, .total = 2}, Reuse::automatic); }), 1,
              {"[tower 'tower1']", "'w2'"});
}

TEST(TowerRules, rule_1_towers_with_own_variables_are_compared) {
  GraphScope g;
  int calls = 0;
  TowerFunc f(
      [&](Tensor x, Tensor y) {
        const auto w = get_variable("w", {.shape = {calls++ == 0 ? 3 : 1}});
        return reduce_mean(square(reduce_sum(x * w, {.axes = {1}}) - y));
      },
      kSignature);
  build(f, "tower0", true, {.total = 2});
  expect_rule(error_of([&] { build(f, "tower1", true, {.variable_scope = "tower1", .index = 1, .total = 2}); }), 1,
              {"tower 'tower0'", "f32[3]", "f32[1]"});
}

TEST(TowerRules, rule_1_towers_with_other_nodes) {
  GraphScope g;
  int calls = 0;
  TowerFunc f([&](Tensor x, Tensor y) { return calls++ == 0 ? line_cost(x, y) : exp(line_cost(x, y)); }, kSignature);
  build(f, "tower0", true, {.total = 2});
  expect_rule(error_of([&] { build(f, "tower1", true, {.index = 1, .total = 2}, Reuse::yes); }), 1,
              {"nothing more", "(exp"});
}

TEST(TowerRules, rule_2_only_what_gradients_train_is_trainable) {
  expect_rule(error_in_tower([](Tensor x, Tensor) {
                get_variable("count", {.dtype = i64});
                return reduce_mean(x);
              }),
              2, {"'count'", "i64", ".trainable = false"});
  expect_rule(error_in_tower([](Tensor x, Tensor y) {
                const auto average = get_variable("average", {.initializer = zeros()});
                Graph::current().collections().add(kUpdateOps, assign(average, reduce_mean(y)));
                return reduce_mean(x) * average;
              }),
              2, {"'average'", "update op"});
}

TEST(TowerRules, rule_3_names_depend_on_no_scope_or_tensor) {
  expect_rule(error_in_tower(
                  [](Tensor x, Tensor) {
                    const auto h = square(x, "h");
                    return reduce_mean(h * get_variable(h.name() + "_scale"));
                  },
                  "replica0"),
              3, {"'replica0/h_scale'", "'replica0'"});
  expect_rule(error_in_tower([](Tensor x, Tensor) { return reduce_mean(x * get_variable("replica1/scale")); },
                             "replica1", {.variable_scope = "replica1", .index = 1, .total = 2}),
              3, {"'replica1/replica1/scale'"});
  expect_rule(error_in_tower(
                  [](Tensor x, Tensor) {
                    const VariableGetterScope elsewhere([](const NextGetter& next, const std::string&,
                                                           const VariableOptions& o) { return next("loose", o); });
                    return reduce_mean(x * get_variable("scale"));
                  },
                  "replica1", {.variable_scope = "replica1", .index = 1, .total = 2}),
              3, {"'loose'", "'replica1'"});
}

TEST(TowerRules, rule_4_trainable_variables_can_be_shared) {
  expect_rule(error_in_tower([](Tensor x, Tensor) { return reduce_mean(x * raw_variable("w", {.shape = {3}})); }), 4,
              {"'w'", "raw_variable"});
  GraphScope g;
  TowerFunc f(
      [](Tensor x, Tensor y) {
        raw_variable("of_this_tower", {.trainable = false});
        return line_cost(x, y);
      },
      kSignature);
  EXPECT_NO_THROW(build(f, "tower0", true, {.total = 2}));
  EXPECT_NO_THROW(build(f, "tower1", true, {.index = 1, .total = 2}, Reuse::yes));
}

TEST(TowerRules, rule_5_the_word_tower_is_reserved) {
  expect_rule(error_in_tower([](Tensor x, Tensor) { return reduce_mean(x * get_variable("my_tower/w")); }), 5,
              {"'my_tower/w'"});
  expect_rule(error_in_tower([](Tensor x, Tensor) {
                const NameScope scope("towers");
                return reduce_mean(square(x));
              }),
              5, {"'tower0/towers/"});
}

TEST(TowerRules, inference_may_leave_parts_out_but_not_invent_variables) {
  GraphScope g;
  TowerFunc f(
      [](Tensor x, Tensor y) {
        if (get_current_tower_context().is_training()) return line_cost(x, y);
        return reduce_mean(x * get_variable("new"));
      },
      kSignature);
  build(f, "tower0", true);
  expect_rule(error_of([&] { build(f, "InferenceTower", false, {}, Reuse::yes); }), 1, {"'new'", "InferenceTower"});
}

}  // namespace
}  // namespace martello
