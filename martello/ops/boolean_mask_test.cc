#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/boolean_mask.h>
#include <martello/ops/gather.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/ops/transpose.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensors naive_mask(const HostTensors& in) {
  const Shape &x = in[0].shape(), &mask = in[1].shape();
  const int64_t row = x.num_elements(mask.rank(), x.rank());
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < in[1].num_elements(); ++i)
    if (in[1].at(i) != 0) kept.push_back(i);
  Shape y(static_cast<int64_t>(kept.size()));
  for (int i = mask.rank(); i < x.rank(); ++i) y.push_back(x[i]);
  HostTensor out(y, in[0].dtype());
  for (int64_t i = 0; i < out.num_elements(); ++i)
    out.set(i, in[0].at(kept[static_cast<size_t>(i / row)] * row + i % row));
  return {out};
}

OpCase mask_case(std::string label, HostTensor x, HostTensor mask) {
  return {.label = std::move(label),
          .inputs = {std::move(x), std::move(mask)},
          .build = [](TensorList in) { return TensorList{boolean_mask(in[0], in[1])}; },
          .reference = naive_mask,
          .gradient = false};
}
// Gradients are checked behind a sum, whose size does not depend on data.
OpCase sum_case(std::string label, HostTensor x, HostTensor mask) {
  return {.label = std::move(label),
          .inputs = {std::move(x), std::move(mask)},
          .build =
              [](TensorList in) {
                const Tensor y = boolean_mask(in[0], in[1]);
                return TensorList{reduce_sum(y * y, {.axes = 0})};
              },
          .reference =
              [](const HostTensors& in) {
                const HostTensor y = naive_mask(in)[0];
                HostTensor sum(y.shape().slice(1, y.shape().rank()), f64);
                for (int64_t i = 0; i < y.num_elements(); ++i) {
                  const int64_t k = i % sum.num_elements();
                  sum.set(k, sum.at(k) + y.at(i) * y.at(i));
                }
                return HostTensors{sum};
              }};
}
std::vector<OpCase> sums_of_rows() {
  std::vector<OpCase> list;
  for (const int64_t rows : {0, 1, 2, 8})
    for (const int64_t channels : {1, 3, 17})
      list.push_back(sum_case(str(rows, " of ", channels), randn({rows, channels}), booleans({rows})));
  return list;
}
const OpTestRows sum_rows("boolean_mask", __FILE__, __LINE__, sums_of_rows());

HostTensor bools(std::initializer_list<bool> values, Shape shape) {
  return HostTensor::of<bool>(values, std::move(shape));
}

OP_TEST(boolean_mask, mask_case("rows", randn({7, 3}), booleans({7})),
        mask_case("elements", randn({5, 4}), booleans({5, 4})),
        mask_case("leading axes", randn({3, 2, 4}), booleans({3, 2})),
        mask_case("none", randn({2, 2}), bools({false, false}, {2})),
        mask_case("all", randn({2, 2}), bools({true, true}, {2})), mask_case("empty", randn({0, 2}), bools({}, {0})),
        mask_case("many", randn({300, 9}), booleans({300})), mask_case("integers", integers({9}, -9, 9), booleans({9})),
        sum_case("summed rows", randn({7, 3}), booleans({7})),
        sum_case("summed elements", randn({5, 4}), booleans({5, 4})));
OP_TEST(boolean_mask_grad, {.label = "rows",
                            .inputs = {randn({3, 2}), bools({false, true, true}, {3})},
                            .build = [](TensorList x) { return TensorList{boolean_mask_grad(x[0], x[1])}; },
                            .reference =
                                [](const HostTensors& in) {
                                  return HostTensors{tabulate({3, 2}, in[0].dtype(), [&](const Index& i) {
                                    return i[0] == 0 ? 0.0 : at(in[0], {i[0] - 1, i[1]});
                                  })};
                                },
                            .gradient = false});

// Row-wise ops after the mask see the rows of the run, and gradients come back through them.
TEST(boolean_mask, passes_its_rows_on) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 2, 3}, f64, "x"), mask = placeholder({kUnknown}, boolean, "mask");
  const Tensor y = transpose(boolean_mask(x, mask), {0, 2, 1}), flat = flatten(y), n = shape(flat);
  const Tensor loss = reduce_sum(flat * flat);
  const Tensor dx = gradients({loss}, {x})[0];
  Session session(scope.graph());
  const HostTensor value = randn({4, 2, 3}), chosen = bools({true, false, true, false}, {4});
  const auto out = session.run({flat, n, loss, dx}, {{x, value}, {mask, chosen}});
  EXPECT_EQ(out[0].shape(), Shape(2, 6));
  EXPECT_EQ(out[1].at(0), 2);
  double sum = 0;
  for (int64_t i = 0; i < 24; ++i) {
    const bool is_kept = chosen.at(i / 6) != 0;
    sum += is_kept ? value.at(i) * value.at(i) : 0;
    EXPECT_DOUBLE_EQ(out[3].at(i), is_kept ? 2 * value.at(i) : 0);
  }
  EXPECT_NEAR(out[2].at(0), sum, 1e-12);
}

TEST(boolean_mask, refuses_what_would_mix_its_rows) {
  GraphScope scope;
  const Tensor y = boolean_mask(placeholder({4, 2}, f32, "x"), placeholder({4}, boolean, "mask"));
  EXPECT_TRUE(y.node()->outputs[0].has_dynamic_rows);
  EXPECT_EQ(y.shape(), Shape(4, 2));
  EXPECT_TRUE(expand_dims(y, 1).node()->outputs[0].has_dynamic_rows);
  EXPECT_FALSE(gather(y, constant(HostTensor::of<int32_t>({0}))).node()->outputs[0].has_dynamic_rows);
  EXPECT_THROW(transpose(y), InvalidArgument);
  EXPECT_THROW(reshape(y, {-1}), InvalidArgument);
  EXPECT_THROW(expand_dims(y, 0), InvalidArgument);
}

OP_REFUSES(boolean_mask, mask_of_integers, [] { boolean_mask(placeholder({2}, f32, "x"), placeholder({2}, i32, "m")); },
           {"bool", "i32[2]"})
OP_REFUSES(boolean_mask, scalar_mask, [] { boolean_mask(placeholder({2}, f32, "x"), placeholder({}, boolean, "m")); },
           {"scalar"})
OP_REFUSES(boolean_mask, other_size, [] { boolean_mask(placeholder({2}, f32, "x"), placeholder({3}, boolean, "m")); },
           {"2 and 3"})
OP_REFUSES(boolean_mask, mask_of_higher_rank,
           [] {
             boolean_mask(placeholder({2}, f32, "x"), placeholder({2, 1}, boolean, "m"));
           },
           {"more dimensions"})

}  // namespace
}  // namespace martello::testing
