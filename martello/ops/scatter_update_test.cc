#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/assign.h>
#include <martello/ops/initializers.h>
#include <martello/ops/scatter_update.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

using Scatter = Operation (*)(Variable, Operand, Operand, Name);

Variable ones_of(Shape shape, DType dtype) {
  return raw_variable("v", {.shape = std::move(shape), .dtype = dtype, .initializer = ones(), .trainable = false});
}

// What the variable holds after one update of ones.
Build scattered(Scatter scatter, Shape shape) {
  return [=](TensorList x) {
    const Variable v = ones_of(shape, x[1].dtype());
    ControlDependencies after({scatter(v, x[0], x[1], "scatter")});
    return TensorList{read_variable(v)};
  };
}

Reference naive(const Shape& shape, const std::function<double(double, double)>& update) {
  return [=](const HostTensors& in) {
    HostTensor v = HostTensor::full(shape, in[1].dtype(), 1);
    const int64_t inner = v.num_elements() / std::max<int64_t>(shape[0], 1);
    for (int64_t i = 0; i < in[0].num_elements(); ++i)
      for (int64_t j = 0; j < inner; ++j) {
        const int64_t to = static_cast<int64_t>(in[0].at(i)) * inner + j;
        v.set(to, update(v.at(to), in[1].at(in[1].shape().rank() == 0 ? 0 : i * inner + j)));
      }
    return HostTensors{v};
  };
}

OpCase row(const char* label, Scatter scatter, double (*update)(double, double), const Shape& shape, HostTensor indices,
           HostTensor values) {
  return {.label = label,
          .inputs = {std::move(indices), std::move(values)},
          .build = scattered(scatter, shape),
          .reference = naive(shape, update),
          .gradient = false};
}

double plus(double a, double b) { return a + b; }
double minus(double a, double b) { return a - b; }
double second(double, double b) { return b; }

OP_TEST(scatter_add, row("duplicates", scatter_add, plus, {5, 37}, integers({40}, 0, 5), randn({40, 37})),
        row("indices of rank 2", scatter_add, plus, {4, 3}, integers({2, 3}, 0, 4, i64), randn({2, 3, 3})),
        row("vector", scatter_add, plus, {9}, integers({200}, 0, 9), randn({200})),
        row("one index", scatter_add, plus, {3, 2, 2, 1, 1, 2}, HostTensor(int32_t{2}), randn({2, 2, 1, 1, 2})),
        row("a scalar for all", scatter_add, plus, {4, 20}, integers({6}, 0, 4), randn({})),
        row("no indices", scatter_add, plus, {4, 3}, integers({0}, 0, 1), randn({0, 3})),
        row("empty rows", scatter_add, plus, {4, 0}, integers({3}, 0, 4), randn({3, 0})),
        row("integers", scatter_add, plus, {4, 3}, integers({7}, 0, 4), integers({7, 3}, -9, 9, i64)),
        row("bytes", scatter_add, plus, {4, 3}, integers({7}, 0, 4), integers({7, 3}, 0, 9, u8)));
OP_TEST(scatter_sub, row("duplicates", scatter_sub, minus, {5, 37}, integers({40}, 0, 5), randn({40, 37})),
        row("a scalar for all", scatter_sub, minus, {4}, integers({6}, 0, 4), randn({})));
OP_TEST(scatter_assign,
        row("the last one counts", scatter_assign, second, {5, 37}, integers({40}, 0, 5), randn({40, 37})),
        row("bool", scatter_assign, second, {5}, integers({9}, 0, 5), booleans({9})));
OP_TEST(check_indices, {.label = "in range",
                        .inputs = {integers({4, 3}, 0, 7, i64)},
                        .build = [](TensorList x) { return TensorList{check_indices(x[0], 7)}; },
                        .reference = [](const HostTensors& x) { return x; }});

OP_REFUSES(scatter_add, a_scalar_variable,
           [] { scatter_add(get_scalar_var("v", 1), placeholder({2}, i32, "i"), placeholder({2}, f32, "x")); },
           {"scatter_add", "f32[]", "no rows"})
OP_REFUSES(scatter_add, float_indices,
           [] { scatter_add(ones_of({3}, f32), placeholder({2}, f32, "i"), placeholder({2}, f32, "x")); },
           {"check_indices", "f32[2]", "i32"})
OP_REFUSES(scatter_add, another_dtype,
           [] { scatter_add(ones_of({3}, f32), placeholder({2}, i32, "i"), placeholder({2}, f64, "x")); },
           {"scatter_add", "f32[3]", "f64[2]", "cast"})
OP_REFUSES(scatter_add, rows_of_another_size,
           [] {
             scatter_add(ones_of({3, 4}, f32), placeholder({2}, i32, "i"), placeholder({2, 5}, f32, "x"));
           },
           {"scatter_add", "[2, 5]", "[2, 4]"})
OP_REFUSES(scatter_add, bools,
           [] { scatter_add(ones_of({3}, boolean), placeholder({2}, i32, "i"), placeholder({2}, boolean, "x")); },
           {"scatter_add", "bool", "scatter_assign"})
OP_REFUSES(scatter_add, what_is_no_variable,
           [] { scatter_add(Variable(placeholder({3}, f32, "p")), placeholder({2}, i32, "i"), 1); },
           {"scatter_add", "'p' is not a variable"})

TEST(scatter_update, a_bad_index_fails_the_run_and_nothing_is_written) {
  for (const int64_t bad : {int64_t{-1}, int64_t{3}, int64_t{1} << 40}) {
    GraphScope scope;
    const Variable before = ones_of({3}, f32), v = ones_of({3}, f32);
    const Operation other = assign(before, 7), update = scatter_add(v, placeholder({2}, i64, "i"), 1, "update");
    Session session;
    const std::string text = error_of<InvalidArgument>([&] {
      session.run({other, update}, {{"i", HostTensor::of<int64_t>({0, bad})}});
    });
    for (const std::string& part : {std::string("update_indices"), str("indices[1] is ", bad), std::string("[0, 3)")})
      EXPECT_CONTAINS(text, part);
    for (const Variable& x : {before, v})
      EXPECT_TRUE(session.get(x).same_bits(HostTensor::full({3}, f32, 1))) << session.get(x).str();
  }
}

TEST(scatter_update, takes_values_from_before_the_run) {
  GraphScope scope;
  const Variable v = raw_variable(
      "v", {.shape = {3}, .initializer = constant_init(HostTensor::of<float>({1, 2, 3})), .trainable = false});
  const Operation update = scatter_assign(v, constant(HostTensor::of<int32_t>({2, 1, 0})), v);
  Session session;
  session.run(update);
  EXPECT_TRUE(session.get(v).same_bits(HostTensor::of<float>({3, 2, 1}))) << session.get(v).str();
}

}  // namespace
}  // namespace martello::testing
