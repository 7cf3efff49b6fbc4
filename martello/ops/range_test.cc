#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/range.h>
#include <martello/ops/shape.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

OpCase range_case(std::string label, double start, double limit, double delta, HostTensor y) {
  const bool is_integral = y.dtype() == i64;
  const auto build = [=](TensorList) {
    if (!is_integral) return TensorList{range(start, limit, delta)};
    return TensorList{range(static_cast<int64_t>(start), static_cast<int64_t>(limit), static_cast<int64_t>(delta))};
  };
  return {.label = std::move(label),
          .build = build,
          .reference = [y](const HostTensors&) { return HostTensors{y}; },
          .dtypes = {f32}};
}

OpCase eye_case(std::string label, int64_t rows, int64_t columns, DType dtype) {
  return {.label = std::move(label),
          .build =
              [=](TensorList) {
                return TensorList{eye({rows, columns, dtype})};
              },
          .reference =
              [=](const HostTensors&) {
                return HostTensors{tabulate(Shape(rows, columns), dtype, [](const Index& i) { return i[0] == i[1]; })};
              },
          .dtypes = {f32}};
}

HostTensors naive_inverse(const HostTensors& in) {
  HostTensor y(in[0].shape(), in[0].dtype());
  for (int64_t i = 0; i < y.num_elements(); ++i) y.set(static_cast<int64_t>(in[0].at(i)), static_cast<double>(i));
  return {y};
}
TensorList build_inverse(TensorList x) { return {invert_permutation(x[0])}; }

OP_TEST(range, range_case("up", 2, 7, 1, HostTensor::of<int64_t>({2, 3, 4, 5, 6})),
        range_case("by three", 0, 10, 3, HostTensor::of<int64_t>({0, 3, 6, 9})),
        range_case("down", 3, -2, -2, HostTensor::of<int64_t>({3, 1, -1})),
        range_case("nothing", 5, 5, 1, HostTensor::of<int64_t>({})),
        range_case("the wrong way", 5, 1, 1, HostTensor::of<int64_t>({})),
        range_case("fractions", 0, 1, 0.25, HostTensor::of<float>({0, 0.25f, 0.5f, 0.75f})),
        range_case("long", 0, 70000, 1, iota({70000}, i64)),
        {.label = "as many as rows",
         .inputs = {randn({5, 2})},
         .build = [](TensorList x) { return TensorList{range(0, shape(x[0])[0])}; },
         .reference = [](const HostTensors&) { return HostTensors{iota({5}, i64)}; }},
        {.label = "every second row",
         .inputs = {randn({5, 2})},
         .build = [](TensorList x) { return TensorList{range(1, shape(x[0])[0], 2)}; },
         .reference =
             [](const HostTensors&) {
               return HostTensors{HostTensor::of<int64_t>({1, 3})};
             }},
        {.label = "grid",
         .inputs = {randn({3}), randn({2})},
         .build =
             [](TensorList x) {
               return meshgrid({x[0], x[1]});
             },
         .reference =
             [](const HostTensors& in) {
               const Shape y(2, 3);
               return HostTensors{tabulate(y, in[0].dtype(), [&](const Index& i) { return in[0].at(i[1]); }),
                                  tabulate(y, in[0].dtype(), [&](const Index& i) { return in[1].at(i[0]); })};
             }},
        {.label = "grid of three by matrix indexing",
         .inputs = {randn({3}), randn({2}), randn({4})},
         .build = [](TensorList x) { return meshgrid(x, {.matrix_indexing = true}); },
         .reference =
             [](const HostTensors& in) {
               HostTensors out;
               for (size_t d = 0; d < 3; ++d)
                 out.push_back(tabulate({3, 2, 4}, in[d].dtype(), [&](const Index& i) { return in[d].at(i[d]); }));
               return out;
             }});
OP_TEST(eye, eye_case("square", 4, 4, f32), eye_case("wide", 2, 5, i32), eye_case("tall", 5, 2, boolean),
        eye_case("half", 3, 3, bf16), eye_case("empty", 0, 3, f64));
OP_TEST(invert_permutation,
        {.label = "i32",
         .inputs = {HostTensor::of<int32_t>({3, 0, 2, 1})},
         .build = build_inverse,
         .reference = naive_inverse},
        {.label = "i64",
         .inputs = {HostTensor::of<int64_t>({1, 2, 0})},
         .build = build_inverse,
         .reference = naive_inverse},
        {.label = "empty", .inputs = {HostTensor(Shape(0), i32)}, .build = build_inverse, .reference = naive_inverse});

TEST(range, follows_the_batch_symbol) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown}, f32, "x");
  EXPECT_EQ(range(0, shape(x)[0]).shape(), x.shape());
  EXPECT_EQ(*range(0, 3).node()->outputs[0].value, (std::vector<int64_t>{0, 1, 2}));
}

TEST(invert_permutation, names_the_number_at_fault) {
  GraphScope scope;
  const Tensor p = placeholder({3}, i32, "p"), y = invert_permutation(p);
  Session session(scope.graph());
  const auto text_of = [&](const HostTensor& value) {
    return error_of<InvalidArgument>([&] { session.run({y}, {{p, value}}); });
  };
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "p[1] is 3, outside [0, 3)", text_of(HostTensor::of<int32_t>({0, 3, 1})));
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "p[2] and p[0] are both 1", text_of(HostTensor::of<int32_t>({1, 0, 1})));
}

OP_REFUSES(range, delta_of_zero, [] { range(0, 5, 0); }, {"delta not 0"})
OP_REFUSES(range, too_long, [] { range(0.0, 1e300, 1e-300); }, {"range"})
OP_REFUSES(range, bounds_that_are_vectors, [] { range(0, placeholder({2}, i64, "n")); }, {"scalars", "i64[2]"})
OP_REFUSES(eye, negative, [] { eye(-1); }, {"-1 rows"})
OP_REFUSES(eye, too_large, [] { eye(int64_t{1} << 62); }, {})
OP_REFUSES(invert_permutation, floating, [] { invert_permutation(placeholder({2}, f32, "p")); }, {"i32 or i64"})
OP_REFUSES(range, grid_of_matrices, [] { meshgrid({placeholder({2, 2}, f32, "x")}); }, {"takes vectors", "[2, 2]"})

}  // namespace
}  // namespace martello::testing
