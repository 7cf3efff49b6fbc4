#include <martello/models/getters.h>

#include <martello/autodiff/gradients.h>
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/models/fully_connected.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/scan.h>
#include <martello/ops/unary.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

Tensor input() { return placeholder({2, 3}, f32, "x"); }
size_t count(CollectionKey<Variable> key) { return Graph::current().collections().get(key).size(); }

TEST(FreezeVariables, stops_gradients_of_uses_inside) {
  GraphScope g;
  LayerOutput y;
  {
    const FreezeVariables frozen;
    y = fully_connected("fc", input(), {.units = 2});
  }
  const auto head = fully_connected("head", y, {.units = 2});
  const Variable w = y.variables()["W"];
  EXPECT_EQ(w.handle().name(), "fc/W");
  const TensorList grads = gradients(reduce_sum(head), {w.handle(), head.variables()["W"].handle()}, {},
                                     {.unconnected = GradientOptions::Unconnected::null});
  EXPECT_TRUE(grads[0].is_null());
  EXPECT_FALSE(grads[1].is_null());
  EXPECT_EQ(count(kTrainableVariables), 4u);  // weight decay by name still finds them
}

TEST(FreezeVariables, keeps_variables_out_of_training) {
  GraphScope g;
  {
    const FreezeVariables frozen({.stop_gradient = false, .skip_collection = true});
    fully_connected("fc", input(), {.units = 2});
    get_variable("state", {.shape = {}, .trainable = false});
  }
  EXPECT_EQ(count(kTrainableVariables), 0u);
  EXPECT_EQ(count(kModelVariables), 2u);
  EXPECT_EQ(count(kGlobalVariables), 3u);
}

TEST(RemapVariables, layers_read_through_the_function) {
  GraphScope g;
  const RemapVariables binary([](Variable v) { return sign(v); });
  const auto y = fully_connected("fc", input(), {.units = 2, .kernel_init = constant_init(0.3)});
  const HostTensor x = HostTensor::full({2, 3}, f32, 2);
  EXPECT_FLOAT_EQ(Session().eval(y, {{"x", x}}).at(0), 6);
  EXPECT_FLOAT_EQ(Session().get(y.variables()["W"].handle()).at(0), 0.3f);
}

OP_REFUSES(remap_variables, another_shape,
           [] {
             const RemapVariables wrong([](Variable v) { return reduce_sum(v); });
             fully_connected("fc", input(), {.units = 2});
           },
           {"[remap_variables 'fc/W']", "f32[]", "f32[3, 2]"});

TEST(AutoReuse, the_second_call_shares) {
  GraphScope g;
  const Tensor x = input();
  auto net = auto_reuse([](Tensor t, int units) { return fully_connected("fc", t, {.units = units}); });
  const auto a = net(x, 2), b = net(x, 2);
  EXPECT_EQ(a.variables()["W"], b.variables()["W"]);
  EXPECT_NE(Tensor(a), Tensor(b));
  {
    const VariableScope other("other");
    EXPECT_EQ(net(x, 5).variables()["W"].name(), "other/fc/W");
  }
  GraphScope fresh;
  EXPECT_EQ(net(input(), 7).variables()["W"].shape(), Shape(3, 7));
}

TEST(AutoReuse, copies_share_from_the_first_call_on) {
  GraphScope g;
  auto net = auto_reuse([](Tensor t) { return fully_connected("fc", t, {.units = 2}); });
  auto copy = net;
  const auto a = net(input()), b = copy(input());
  EXPECT_EQ(a.variables()["W"], b.variables()["W"]);
}

TEST(AutoReuse, calls_in_a_body_share_with_those_outside) {
  GraphScope g;
  auto net = auto_reuse([](Tensor t) { return Tensor(fully_connected("fc", t, {.units = 3})); });
  const Tensor first = net(input());
  scan([&](TensorList c, TensorList) { return ScanStep{net(c[0]), c[0]}; }, first, placeholder({4, 2}, f32, "xs"));
  EXPECT_EQ(count(kTrainableVariables), 2u);
}

TEST(AutoReuse, the_second_call_makes_nothing_new) {
  GraphScope g;
  auto net = auto_reuse([](Tensor t, const char* name) { return fully_connected(name, t, {.units = 2}); });
  net(input(), "fc");
  EXPECT_THROW(net(input(), "fc2"), NotFound);
}

}  // namespace
}  // namespace martello::testing
