#include <martello/autodiff/gradients.h>
#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/unary.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

// x ^ 3, with the gradient that it has.
TensorList cube(TensorList x) {
  return custom_gradient(
      {x[0]}, [](TensorList in) { return TensorList{in[0] * in[0] * in[0]}; },
      [x](TensorList dy) { return TensorList{dy[0] * 3 * x[0] * x[0]}; });
}

TensorList sum_and_product(TensorList x) {
  return custom_gradient(
      {x[0], x[1]},
      [](TensorList in) {
        return TensorList{in[0] + in[1], in[0] * in[1]};
      },
      [x](TensorList dy) {
        return TensorList{dy[0] + dy[1] * x[1], dy[0] + dy[1] * x[0]};
      });
}

HostTensor mapped(const HostTensors& in, double (*f)(double, double)) {
  return map_elements(
      in, [f](const std::vector<double>& v) { return f(v[0], v.back()); }, in[0].dtype());
}

OP_TEST(custom_gradient,
        {.label = "one output",
         .inputs = {randn({5, 3})},
         .build = cube,
         .reference =
             [](const HostTensors& x) { return HostTensors{mapped(x, [](double a, double) { return a * a * a; })}; },
         .second_order = true},
        {.label = "two outputs",
         .inputs = {randn({7}), randn({7}, 2)},
         .build = sum_and_product,
         .reference =
             [](const HostTensors& x) {
               return HostTensors{mapped(x, [](double a, double b) { return a + b; }),
                                  mapped(x, [](double a, double b) { return a * b; })};
             }},
        {.label = "one of two outputs is used",
         .inputs = {randn({7}), randn({7}, 2)},
         .build = [](TensorList x) { return TensorList{sum_and_product(x)[1]}; },
         .reference =
             [](const HostTensors& x) { return HostTensors{mapped(x, [](double a, double b) { return a * b; })}; }});

float gradient_at(const Tensor& y, const Tensor& x, float value) {
  const Tensor dx = gradients(y, x)[0];
  return Session().eval(dx, {{x, value}}).scalar<float>();
}

TEST(custom_gradient, replaces_the_gradient_of_forward) {
  GraphScope scope;
  const Tensor x = placeholder({}, f32, "x");
  const Tensor y = custom_gradient(
      {x}, [](TensorList in) { return TensorList{round(in[0])}; }, [](TensorList dy) { return dy; },
      "straight_through")[0];
  EXPECT_EQ(y.name(), "straight_through");
  EXPECT_EQ(gradient_at(y * 3, x, 1.4f), 3);
  EXPECT_EQ(Session().eval(y, {{x, 1.4f}}).scalar<float>(), 1);
}

TEST(custom_gradient, runs_when_simplification_is_off) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x");
  const TensorList ys = sum_and_product({x, x});
  Session session(scope.graph(), {.disabled_passes = {"simplify"}});
  const HostTensors values = session.run(ys, {{x, HostTensor::of<float>({2, 3})}});
  EXPECT_TRUE(values[0].same_bits(HostTensor::of<float>({4, 6})));
  EXPECT_TRUE(values[1].same_bits(HostTensor::of<float>({4, 9})));
}

TEST(custom_gradient, is_gone_from_a_plan) {
  GraphScope scope;
  const Tensor y = cube(placeholder({2}, f32, "x"))[0];
  Session session;
  const std::string text = session.plan_report(y, {{"x", HostTensor::of<float>({2, 3})}}).graph_text;
  EXPECT_EQ(text.find("custom_gradient("), std::string::npos) << text;
}

TEST(custom_gradient, null_means_no_gradient) {
  GraphScope scope;
  const Tensor x = placeholder({}, f32, "x");
  const Tensor y = custom_gradient(
      {x}, [](TensorList in) { return TensorList{in[0] * 2}; }, [](TensorList) { return TensorList{Tensor()}; })[0];
  EXPECT_EQ(gradient_at(y + x, x, 1), 1);
}

OP_REFUSES(custom_gradient, a_variable_whose_gradient_would_be_lost,
           [] {
             const Variable w = get_variable("w", {.shape = {2}});
             custom_gradient(
                 placeholder({2}, f32, "x"), [&](TensorList in) { return TensorList{in[0] * w}; },
                 [](TensorList dy) { return dy; }, "scaled");
           },
           {"[custom_gradient 'scaled']", "'w'", "stop_gradient"})
OP_REFUSES(custom_gradient, no_outputs,
           [] {
             custom_gradient(
                 placeholder({2}, f32, "x"), [](TensorList) { return TensorList(); }, [](TensorList dy) { return dy; });
           },
           {"custom_gradient", "no tensors"})
OP_REFUSES(custom_gradient, another_number_of_gradients,
           [] {
             const Tensor x = placeholder({2}, f32, "x");
             gradients(custom_gradient(
                           x, [](TensorList in) { return TensorList{in[0] * 2}; },
                           [](TensorList dy) {
                             return TensorList{dy[0], dy[0]};
                           }),
                       x);
           },
           {"custom_gradient", "2 tensors for 1 xs"})

TEST(custom_gradient, variables_among_xs_or_stopped_are_accepted) {
  GraphScope scope;
  const Variable w = get_variable("w", {.shape = {2}, .initializer = constant_init(3)});
  const Tensor x = placeholder({2}, f32, "x");
  const auto times = [](TensorList in) { return TensorList{in[0] * in[1]}; };
  const Tensor y = custom_gradient({x, w}, times, [](TensorList dy) { return TensorList{dy[0], dy[0] * 10}; })[0];
  const Tensor stopped = custom_gradient(
      x, [&](TensorList in) { return TensorList{in[0] * stop_gradient(w)}; }, [](TensorList dy) { return dy; })[0];
  const Tensor dw = gradients({y, stopped}, {w})[0];
  EXPECT_EQ(Session().eval(dw, {{x, HostTensor::of<float>({1, 1})}}).at(0), 10);
}

TEST(custom_gradient, a_graph_from_text_says_that_its_gradient_is_lost) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x");
  cube(x);
  const Graph parsed = parse_graph(scope.graph().text());
  GraphScope inside(parsed);
  const std::string text = error_of([&] { gradients(parsed.get_tensor("custom_gradient"), parsed.get_tensor("x")); });
  EXPECT_CONTAINS(text, "not part of graph text");
}

}  // namespace
}  // namespace martello::testing
