#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/scan.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::expect_refused;

TEST(Variable, is_shared_by_scope_and_reuse) {
  GraphScope g;
  const auto make = [](Reuse reuse) {
    VariableScope scope("fc", reuse);
    return get_variable("W", {.shape = {2}});
  };
  const Variable first = make(Reuse::no);
  EXPECT_EQ(first.handle().name(), "fc/W");
  EXPECT_EQ(make(Reuse::yes), first);
  EXPECT_EQ(make(Reuse::automatic), first);
  EXPECT_THROW(make(Reuse::no), InvalidArgument);
  EXPECT_EQ(trainable_variables().size(), 1u);
}

TEST(Variable, name_scopes_do_not_change_its_name) {
  GraphScope g;
  NameScope name("tower0");
  VariableScope scope("a");
  EXPECT_EQ(get_variable("W", {.shape = {1}}).handle().name(), "a/W");
}

TEST(Variable, raw_ones_are_never_shared) {
  GraphScope g;
  EXPECT_EQ(raw_variable("v", {.shape = {1}}).handle().name(), "v");
  EXPECT_EQ(raw_variable("v", {.shape = {1}}).handle().name(), "v_1");
}

TEST(Variable, is_listed_by_kind_and_trainability) {
  GraphScope g;
  constexpr CollectionKey<Variable> mine{"mine"};
  get_variable("a", {.shape = {1}});
  get_variable("b", {.shape = {1}, .trainable = false, .collections = {mine}});
  get_variable("c", {.shape = {1}, .trainable = false, .kind = VariableKind::local});
  auto& lists = g.graph().collections();
  EXPECT_EQ(lists.get(kGlobalVariables).size(), 2u);
  EXPECT_EQ(lists.get(kLocalVariables).size(), 1u);
  EXPECT_EQ(lists.get(kTrainableVariables).size(), 1u);
  EXPECT_EQ(lists.get(mine).size(), 1u);
}

TEST(Variable, a_regularizer_joins_the_losses_once) {
  GraphScope g;
  VariableScope scope("s", Reuse::automatic);
  for (int i = 0; i < 2; ++i)
    get_variable("W", {.shape = {2}, .regularizer = [](Variable v) { return reduce_sum(square(v)); }});
  EXPECT_EQ(g.graph().collections().get(kRegularizationLosses).size(), 1u);
}

TEST(Variable, a_regularizer_of_a_body_is_a_loss_of_the_whole_graph) {
  GraphScope g;
  const Tensor last = scan(
                          [](TensorList c, TensorList x) {
                            const Variable w =
                                get_variable("W", {.shape = {2}, .initializer = ones(), .regularizer = [](Variable v) {
                                                     return reduce_sum(square(v));
                                                   }});
                            return ScanStep{c[0] * w + x[0], c[0]};
                          },
                          constant(HostTensor({2}, f32)), constant(HostTensor({3, 2}, f32)))
                          .carried[0];
  const TensorList losses = g.graph().collections().get(kRegularizationLosses);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(Session().eval(reduce_sum(last) + losses[0]).at(0), 2);
}

TEST(Variable, getters_wrap_each_other_and_may_change_options_and_value) {
  GraphScope g;
  VariableGetterScope outer([](const NextGetter& next, const std::string& name, VariableOptions options) {
    options.trainable = false;
    return next(name, options);
  });
  VariableGetterScope inner([](const NextGetter& next, const std::string& name, const VariableOptions& options) {
    const Variable v = next(name + "_frozen", options);
    return Variable(v.handle(), stop_gradient(v));
  });
  const Variable v = get_variable("W", {.shape = {2}});
  EXPECT_EQ(v.handle().name(), "W_frozen");
  EXPECT_STREQ(v.op().type(), "stop_gradient");
  EXPECT_TRUE(trainable_variables().empty());
}

TEST(Variable, a_scalar_variable_is_shared_when_it_exists) {
  GraphScope g;
  EXPECT_EQ(get_scalar_var("learning_rate", 0.1), get_scalar_var("learning_rate", 0.5));
}

TEST(Variable, its_initializer_may_not_use_the_graph) {
  expect_refused(
      [] {
        auto x = placeholder({2}, f32, "x");
        get_variable("W", {.shape = {2}, .initializer = [x](Shape, DType) { return x; }});
      },
      {"'W'", "'x'", "initializer"}, __FILE__);
}

OP_REFUSES(variable, another_shape_under_reuse,
           [] {
             VariableScope scope("fc", Reuse::automatic);
             get_variable("W", {.shape = {512, 10}});
             get_variable("W", {.shape = {512, 100}});
           },
           {"'fc/W'", "[512, 10]", "[512, 100]"})
OP_REFUSES(variable, another_dtype_under_reuse,
           [] {
             VariableScope scope("fc", Reuse::automatic);
             get_variable("W", {.shape = {2}});
             get_variable("W", {.shape = {2}, .dtype = f64});
           },
           {"'fc/W'", "f32", "f64"})
OP_REFUSES(variable, a_missing_one_under_reuse,
           [] {
             get_variable("weight", {.shape = {2}});
             VariableScope scope("", Reuse::yes);
             get_variable("weights", {.shape = {2}});
           },
           {"'weights'", "'weight'", "reuse=yes"})
OP_REFUSES(variable, unknown_dimensions, [] { get_variable("W", {.shape = {kUnknown, 3}}); }, {"'W'", "[?, 3]"})
OP_REFUSES(variable, negative_sizes, [] { get_variable("W", {.shape = {-7}}); }, {"'W'"})
OP_REFUSES(variable, training_of_integers, [] { get_variable("W", {.shape = {2}, .dtype = i32}); }, {"'W'", "i32"})
OP_REFUSES(variable, an_initializer_of_another_shape,
           [] { get_variable("W", {.shape = {2}, .initializer = [](Shape, DType) { return constant(1); }}); },
           {"'W'", "[2]", "[]"})
OP_REFUSES(variable, a_bad_name, [] { get_variable("a:b", {.shape = {2}}); }, {"a:b"})

}  // namespace
}  // namespace martello
