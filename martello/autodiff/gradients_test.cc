#include <martello/autodiff/gradients.h>
#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/graph/scopes.h>
#include <martello/ops/activation.h>
#include <martello/ops/arg_reduce.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/compare.h>
#include <martello/ops/gather.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/ops/where.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;

double value_of(Tensor t, const Feeds& feeds) { return Session(Graph::current()).eval(t, feeds).at(0); }

TEST(Gradients, contributions_of_all_paths_are_summed) {
  GraphScope g;
  auto x = placeholder({}, f64, "x");
  auto y = x * x + 3 * x + x;
  EXPECT_DOUBLE_EQ(value_of(gradients(y, x)[0], {{x, 5.0}}), 14);
}

TEST(Gradients, several_ys_and_weights) {
  GraphScope g;
  auto x = placeholder({}, f64, "x");
  auto a = x * 2, b = square(x);
  EXPECT_DOUBLE_EQ(value_of(gradients({a, b}, x)[0], {{x, 3.0}}), 8);
  auto weight = constant(HostTensor(10.0));
  EXPECT_DOUBLE_EQ(value_of(gradients({a, b}, x, {weight, weight})[0], {{x, 3.0}}), 80);
}

TEST(Gradients, of_gradients_of_gradients) {
  GraphScope g;
  auto x = placeholder({}, f64, "x");
  Tensor y = pow(x, 5);
  for (double expected : {5 * 16.0, 20 * 8.0, 60 * 4.0, 120 * 2.0, 120.0}) {
    y = gradients(y, x)[0];
    EXPECT_NEAR(value_of(y, {{x, 2.0}}), expected, 1e-9);
  }
}

TEST(Gradients, are_unbroadcast_also_when_shapes_are_unknown) {
  GraphScope g;
  auto x = placeholder({kUnknown, 1}, f64, "x"), y = placeholder({kUnknown}, f64, "y");
  auto dx = gradients(reduce_sum(x * y), {x, y});
  Session s;
  const Feeds feeds = {{x, HostTensor::full({3, 1}, f64, 2)}, {y, HostTensor::full({4}, f64, 5)}};
  const auto values = s.run(dx, feeds);
  EXPECT_EQ(values[0].shape(), Shape(3, 1));
  EXPECT_EQ(values[0].at(0), 20);
  EXPECT_EQ(values[1].shape(), Shape(4));
  EXPECT_EQ(values[1].at(3), 6);
}

TEST(Gradients, stop_gradient_cuts_a_path) {
  GraphScope g;
  auto x = placeholder({}, f64, "x");
  EXPECT_DOUBLE_EQ(value_of(gradients(x * stop_gradient(x), x)[0], {{x, 3.0}}), 3);
}

TEST(Gradients, an_unconnected_x_is_reported_or_zero_or_null) {
  GraphScope g;
  auto x = placeholder({2}, f64, "x"), z = placeholder({3}, f64, "lonely");
  auto y = reduce_sum(x);
  const std::string text = error_of<InvalidArgument>([&] { gradients(y, z); });
  EXPECT_CONTAINS(text, "'lonely'");
  using U = GradientOptions::Unconnected;
  EXPECT_TRUE(gradients(y, z, {}, {U::null})[0].is_null());
  Session s;
  EXPECT_EQ(s.eval(gradients(y, z, {}, {U::zeros})[0], {{z, HostTensor::full({3}, f64, 7)}}).at(1), 0);
}

TEST(Gradients, a_path_through_an_undifferentiable_op_names_both_ends) {
  GraphScope g;
  auto w = placeholder({4}, f32, "weights");
  auto hard = round(w, "hard");
  auto loss = reduce_sum(hard, "loss");
  const std::string text = error_of<InvalidArgument>([&] { gradients(loss, w); });
  for (const char* part : {"'hard'", "'loss'", "'weights'", "stop_gradient", "gradients_test.cc"})
    EXPECT_CONTAINS(text, part);
}

TEST(Gradients, a_condition_is_no_path) {
  GraphScope g;
  auto x = placeholder({}, f64, "x");
  auto y = where(x > 0, x * 3, x * 5);
  auto dx = gradients(y, x)[0];
  EXPECT_DOUBLE_EQ(value_of(dx, {{x, 2.0}}), 3);
  EXPECT_DOUBLE_EQ(value_of(dx, {{x, -2.0}}), 5);
}

TEST(Gradients, an_override_by_scope_gives_guided_relu) {
  GraphScope g;
  auto x = placeholder({4}, f64, "x");
  Tensor y;
  {
    GradientOverride guided("relu", "guided_relu", [](const GradContext& c) {
      auto dy = c.grad(0);
      return TensorList{where(c.input(0) > 0, maximum(dy, 0), zeros_like(dy))};
    });
    y = relu(x);
  }
  auto weights = constant(HostTensor::of<double>({1, -1, 1, -1}));
  auto guided = gradients(y, x, weights)[0], plain = gradients(relu(x), x, weights)[0];
  Session s;
  const Feeds feeds = {{x, HostTensor::of<double>({1, 1, -1, -1})}};
  const auto values = s.run({guided, plain}, feeds);
  EXPECT_EQ(values[0].str(), HostTensor::of<double>({1, 0, 0, 0}).str());
  EXPECT_EQ(values[1].str(), HostTensor::of<double>({1, -1, 0, 0}).str());
}

TEST(Gradients, custom_gradient_is_a_straight_through_estimator) {
  GraphScope g;
  auto x = placeholder({}, f64, "x");
  auto y = custom_gradient(
      {x}, [](TensorList in) { return TensorList{round(in[0])}; }, [](TensorList dy) { return dy; });
  auto dx = gradients(square(y[0]), x)[0];
  EXPECT_DOUBLE_EQ(value_of(dx, {{x, 2.4}}), 4);
}

TEST(Gradients, of_a_table_that_is_gathered_twice_stay_sparse) {
  GraphScope g;
  auto table = get_variable("table", {.shape = {5, 2}, .dtype = f64, .initializer = zeros()});
  auto ids = placeholder({3}, i32, "ids");
  auto loss = reduce_sum(gather(table, ids)) + 2 * reduce_sum(gather(table, ids));
  auto grad = gradients(loss, table)[0];
  const auto sparse = find_row_sparse(grad);
  ASSERT_TRUE(sparse);
  EXPECT_EQ(sparse->shape, Shape(5, 2));
  Session s;
  const auto dense = s.eval(grad, {{ids, HostTensor::of<int32_t>({1, 4, 1})}});
  EXPECT_EQ(dense.at(2), 6);
  EXPECT_EQ(dense.at(8), 3);
  EXPECT_EQ(dense.at(0), 0);
  EXPECT_FALSE(find_row_sparse(loss));
}

TEST(Gradients, nodes_show_the_line_of_their_forward_node) {
  GraphScope g;
  auto x = placeholder({}, f64, "x");
  auto y = sin(x, "forward");
  const unsigned line = __LINE__ - 1;
  auto dx = gradients(y, x)[0];
  EXPECT_EQ(dx.node()->line.line, line);
}

TEST(Gradients, refuses_integers_and_foreign_tensors) {
  GraphScope g;
  auto i = placeholder({2}, i32, "i");
  auto x = placeholder({2}, f32, "x");
  EXPECT_THROW(gradients(x, i), InvalidArgument);
  Graph other;
  GraphScope inner(other);
  EXPECT_THROW(gradients(placeholder({}, f32, "y"), x), InvalidArgument);
}

}  // namespace
}  // namespace martello
