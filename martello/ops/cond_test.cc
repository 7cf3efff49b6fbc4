#include <martello/autodiff/gradients.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/graph/verify.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/compare.h>
#include <martello/ops/cond.h>
#include <martello/ops/control.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/random.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/ops/unary.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

HostTensor truth(bool value) { return HostTensor(value); }

// x^3 or sin(x) * w
TensorList cube_or_wave(TensorList in) {
  const Tensor x = in[1], w = in[2];
  return cond(
      in[0], [&] { return x * x * x; }, [&] { return sin(x) * w; });
}

HostTensors naive_cube_or_wave(const HostTensors& in) {
  const bool is_cube = in[0].at(0) != 0;
  return {map_elements(
      {in[1], in[2]},
      [=](const std::vector<double>& v) { return is_cube ? v[0] * v[0] * v[0] : std::sin(v[0]) * v[1]; },
      in[1].dtype())};
}

TensorList nested(TensorList in) {
  const Tensor x = in[2], y = in[3];
  return cond(
      in[0],
      [&] {
        const Tensor h = x * y;
        return TensorList{cond(
                              in[1], [&] { return h * h; }, [&] { return h * x; }),
                          y};
      },
      [&] {
        return TensorList{sin(x), x * 3};
      });
}

HostTensors naive_nested(const HostTensors& in) {
  const bool a = in[0].at(0) != 0, b = in[1].at(0) != 0;
  HostTensors out{in[2], in[2]};
  for (int64_t i = 0; i < in[2].num_elements(); ++i) {
    const double x = in[2].at(i), y = in[3].at(i), h = x * y;
    out[0].set(i, a ? (b ? h * h : h * x) : std::sin(x));
    out[1].set(i, a ? y : x * 3);
  }
  return out;
}

TensorList product_or_sum(TensorList in) {
  return cond(
      in[0], [&] { return TensorList{matmul(in[1], in[2])}; },
      [&] { return TensorList{matmul(in[1] + 1, in[2]) * 2}; });
}

OpCase wave_row(const char* label, bool pred, const Shape& shape) {
  return {.label = label,
          .inputs = {truth(pred), randn(shape), randn(shape, 2)},
          .build = cube_or_wave,
          .reference = naive_cube_or_wave,
          .second_order = true};
}
OpCase nested_row(const char* label, bool a, bool b) {
  return {.label = label,
          .inputs = {truth(a), truth(b), randn({5}), randn({5}, 2)},
          .build = nested,
          .reference = naive_nested,
          .second_order = true};
}

OP_TEST(cond, wave_row("then", true, {3, 7}), wave_row("else", false, {3, 7}), wave_row("scalar", false, {}),
        wave_row("nothing", true, {0, 2}), nested_row("then then", true, true), nested_row("then else", true, false),
        nested_row("else", false, true),
        {.label = "captures needed by one branch only",
         .inputs = {truth(true), randn({4}), randn({4}, 2)},
         .build =
             [](TensorList in) {
               return TensorList{cond(
                   in[0], [&] { return in[1] * 2; }, [&] { return exp(in[2]); })};
             }},
        {.label = "a branch without tensors of the graph",
         .inputs = {truth(false), randn({4})},
         .build =
             [](TensorList in) {
               return TensorList{cond(
                   in[0], [&] { return reduce_sum(in[1] * in[1]); },
                   [&] { return constant(HostTensor::full({}, in[1].dtype(), 3)); })};
             }},
        {.label = "matmul",
         .inputs = {truth(false), randn({9, 5}), randn({5, 7}, 2)},
         .build = product_or_sum,
         .same_bits = false});

OP_REFUSES(cond, a_predicate_that_is_no_scalar,
           [] {
             const Tensor x = placeholder({2}, f32, "x");
             cond(
                 x < 1, [&] { return x; }, [&] { return x; }, "choice");
           },
           {"[cond 'choice']", "bool[2]"})
OP_REFUSES(cond, a_predicate_that_is_no_bool,
           [] {
             const Tensor x = placeholder({}, f32, "x");
             cond(
                 x, [&] { return x; }, [&] { return x; }, "choice");
           },
           {"[cond 'choice']", "f32[]", "bool"})
OP_REFUSES(cond, branches_of_other_shapes,
           [] {
             const Tensor x = placeholder({2}, f32, "x"), p = placeholder({}, boolean, "p");
             cond(
                 p, [&] { return x; }, [&] { return reduce_sum(x); }, "choice");
           },
           {"[cond 'choice']", "then gives f32[2]", "else gives f32[]"})
OP_REFUSES(cond, branches_of_other_dtypes_or_counts,
           [] {
             const Tensor x = placeholder({2}, f32, "x"), p = placeholder({}, boolean, "p");
             cond(
                 p,
                 [&] {
                   return TensorList{x, x};
                 },
                 [&] { return TensorList{x}; }, "choice");
           },
           {"[cond 'choice']", "(f32[2], f32[2])", "else gives f32[2]"})
OP_REFUSES(cond, a_branch_without_tensors,
           [] {
             const Tensor p = placeholder({}, boolean, "p");
             cond(
                 p, [] { return TensorList(); }, [] { return TensorList(); }, "choice");
           },
           {"[cond 'choice']", "no tensors"})
OP_REFUSES(cond, writes_in_a_branch,
           [] {
             const Variable v = get_scalar_var("v", 1);
             cond(
                 placeholder({}, boolean, "p"), [&] { return assign(v, 2), Tensor(v); }, [&] { return Tensor(v); },
                 "choice");
           },
           {"[cond 'choice']", "'assign'", "inside a branch"})

TEST(cond, shapes_of_branches_are_compared_again_when_they_are_known) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown}, f32, "x"), y = placeholder({kUnknown}, f32, "y");
  const Tensor z = cond(
      placeholder({}, boolean, "p"), [&] { return x * 2; }, [&] { return y * 3; }, "choice");
  Session session;
  const auto floats = [](int64_t n) { return HostTensor::full(Shape(n), f32, 1); };
  EXPECT_EQ(session.eval(z, {{"p", truth(true)}, {"x", floats(4)}, {"y", floats(4)}}).at(3), 2);
  EXPECT_EQ(session.eval(z, {{"p", truth(false)}, {"x", floats(5)}, {"y", floats(5)}}).at(4), 3);
  const std::string text = error_of<InvalidArgument>([&] {
    session.eval(z, {{"p", truth(true)}, {"x", floats(4)}, {"y", floats(5)}});
  });
  for (const char* part : {"[cond 'choice']", "f32[4]", "f32[5]", "cond_test.cc:"}) EXPECT_CONTAINS(text, part);
}

TEST(cond, a_size_known_in_one_branch_is_the_size) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown}, f32, "x"), four = placeholder({4}, f32, "four");
  const Tensor p = placeholder({}, boolean, "p");
  EXPECT_EQ(cond(
                p, [&] { return x * 2; }, [&] { return four; })
                .shape(),
            Shape(4));
  EXPECT_EQ(cond(
                p, [&] { return x * 2; }, [&] { return x + 1; })
                .shape(),
            x.shape())
      << "the symbol passes";
}

TEST(cond, sizes_from_outside_can_be_used_inside) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 4}, f32, "x"), p = placeholder({}, boolean, "p");
  const Tensor rows = shape(x)[0];
  const Tensor y = cond(
      p,
      [&] {
        return reshape(x * 2, {rows * 2, 2});
      },
      [&] {
        return reshape(x, {rows * 2, 2});
      });
  Session session;
  const HostTensor value = session.eval(y, {{x, HostTensor::full({3, 4}, f32, 1)}, {p, truth(true)}});
  EXPECT_EQ(value.shape(), Shape(6, 2));
  EXPECT_EQ(value.at(11), 2);
}

TEST(cond, only_the_branch_taken_acts_and_only_once_with_its_gradient) {
  Log log;
  GraphScope scope;
  const Tensor x = placeholder({}, f32, "x"), p = placeholder({}, boolean, "p");
  const Tensor y = cond(
      p, [&] { return print(x * x, {.message = "then"}); },
      [&] {
        print(x, {.message = "else"});
        assert_that(x < 10, "x is large");
        return x * 3;
      });
  const Tensor dx = gradients(y, x)[0];
  verify(scope.graph());
  Session session;
  HostTensors values = session.run({y, dx}, {{x, 2.0f}, {p, truth(true)}});
  EXPECT_EQ(values[0].at(0), 4);
  EXPECT_EQ(values[1].at(0), 4);
  EXPECT_EQ(log.lines, std::vector<std::string>{"then: f32[] 4"});
  values = session.run({y, dx}, {{x, 2.0f}, {p, truth(false)}});
  EXPECT_EQ(values[1].at(0), 3);
  EXPECT_EQ(log.lines, (std::vector<std::string>{"then: f32[] 4", "else: f32[] 2"}));
  EXPECT_THROW(session.run(y, {{x, 20.0f}, {p, truth(false)}}), InvalidArgument);
  session.run(y, {{x, 20.0f}, {p, truth(true)}});
}

TEST(cond, a_gradient_that_would_call_the_host_again_is_refused) {
  GraphScope scope;
  const Tensor x = placeholder({}, f32, "x"), p = placeholder({}, boolean, "p");
  const auto same = [](const HostTensors& in) { return in; };
  const Tensor y = cond(
      p,
      [&] {
        return x * host_call(x, {{{}, f32}}, same, "look_up")[0];
      },
      [&] { return x; });
  EXPECT_EQ(Session().eval(y, {{x, 3.0f}, {p, truth(true)}}).at(0), 9);
  const std::string text = error_of<InvalidArgument>([&] { gradients(y, x); });
  EXPECT_CONTAINS(text, "look_up");
}

TEST(cond, random_numbers_of_a_branch_are_the_same_in_its_gradient) {
  GraphScope scope;
  const Tensor x = placeholder({64}, f32, "x"), p = placeholder({}, boolean, "p");
  const Tensor y = cond(
      p, [&] { return x * random_uniform({64}); }, [&] { return x; });
  const Tensor dx = gradients(y, x)[0];
  Session session;
  const Feeds feeds{{x, HostTensor::full({64}, f32, 1)}, {p, truth(true)}};
  const HostTensors first = session.run({y, dx}, feeds), second = session.run({y, dx}, feeds);
  EXPECT_TRUE(first[0].same_bits(first[1]));
  EXPECT_TRUE(second[0].same_bits(second[1]));
  EXPECT_FALSE(first[0].same_bits(second[0])) << "the counter advances";
}

TEST(cond, custom_gradients_of_a_branch_hold_and_may_use_its_tensors) {
  GraphScope scope;
  const Tensor x = placeholder({}, f32, "x"), p = placeholder({}, boolean, "p");
  const auto branch = [&] {
    const Tensor h = x * 10;
    return custom_gradient(
        {h}, [](TensorList in) { return TensorList{round(in[0])}; },
        [h](TensorList dy) { return TensorList{dy[0] * h}; })[0];
  };
  const Tensor y = cond(p, branch, [&] { return x; });
  EXPECT_EQ(Session().eval(gradients(y, x)[0], {{x, 2.0f}, {p, truth(true)}}).at(0), 200);
}

TEST(cond, variables_made_in_a_branch_belong_to_the_graph) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x"), p = placeholder({}, boolean, "p");
  const Tensor y = cond(
      p, [&] { return x * get_variable("w", {.shape = {2}, .initializer = constant_init(4)}); }, [&] { return x; });
  ASSERT_EQ(trainable_variables().size(), 1u);
  const Tensor dw = gradients(y, trainable_variables())[0];
  Session session;
  const HostTensor ones = HostTensor::full({2}, f32, 1);
  EXPECT_EQ(session.eval(y, {{x, ones}, {p, truth(true)}}).at(1), 4);
  EXPECT_EQ(session.eval(dw, {{x, ones}, {p, truth(true)}}).at(0), 1);
  EXPECT_EQ(session.eval(dw, {{x, ones}, {p, truth(false)}}).at(0), 0);
}

TEST(cond, an_error_in_a_branch_names_its_node_and_the_next_run_is_fine) {
  GraphScope scope;
  const Tensor x = placeholder({}, f32, "x"), p = placeholder({}, boolean, "p");
  const Tensor y = cond(
      p,
      [&] {
        assert_that(x > 0, "x is negative", {}, "positive");
        return log(x);
      },
      [&] { return x; });
  Session session;
  const std::string text = error_of<InvalidArgument>([&] { session.run(y, {{x, -1.0f}, {p, truth(true)}}); });
  for (const char* part : {"x is negative", "while running 'positive'", "while running 'cond'"})
    EXPECT_CONTAINS(text, part);
  EXPECT_EQ(session.eval(y, {{x, 1.0f}, {p, truth(true)}}).at(0), 0);
}

}  // namespace
}  // namespace martello::testing
