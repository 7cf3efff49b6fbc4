#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/boolean_mask.h>
#include <martello/ops/concat.h>
#include <martello/ops/gather.h>
#include <martello/ops/like.h>
#include <martello/ops/losses.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reduce.h>
#include <martello/ops/sparse_softmax_cross_entropy.h>
#include <martello/ops/unary.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <functional>

// Sizes of dimension 0 that only the run knows.
namespace martello {
namespace {

using testing::error_of;

TEST(DynamicRows, flow_through_row_wise_ops) {
  GraphScope g;
  auto x = placeholder({kUnknown, 2}, f32, "x");
  auto mask = placeholder({kUnknown}, boolean, "mask");
  auto kept = boolean_mask(x, mask);
  auto y = square(kept) + 1;
  auto total = reduce_sum(y), mean = reduce_mean(y);
  Session s;
  auto run = s.prepare({y, total, mean}, {x, mask});
  for (int keep = 0; keep <= 4; ++keep) {
    HostTensor m({4}, boolean);
    for (int i = 0; i < keep; ++i) m.set(i, 1);
    run.feed(0, HostTensor::full({4, 2}, f32, 2));
    run.feed(1, m);
    run.run();
    EXPECT_EQ(run.value(0).shape(), Shape(keep, 2));
    EXPECT_EQ(run.value(1).scalar<float>(), static_cast<float>(10 * keep));
    if (keep > 0) {
      EXPECT_EQ(run.value(2).scalar<float>(), 5);
    }
  }
}

TEST(DynamicRows, of_different_data_do_not_mix) {
  GraphScope g;
  auto x = placeholder({4}, f32, "x");
  auto a = boolean_mask(x, placeholder({4}, boolean, "m")), b = boolean_mask(x, placeholder({4}, boolean, "n"));
  auto y = a + b;
  Session s;
  const auto m = HostTensor::of<bool>({true, false, true, false}), n = HostTensor::of<bool>({true, true, true, false});
  EXPECT_NO_THROW(s.run(y, {{x, HostTensor({4}, f32)}, {"m", m}, {"n", m}}));
  EXPECT_THROW(s.run(y, {{x, HostTensor({4}, f32)}, {"m", m}, {"n", n}}), InvalidArgument);
}

// y of three rows that are there always and of those of three that a mask keeps.
struct Pair {
  const char* op;
  Shape always, masked;
  DType dtype;
  std::function<Tensor(Tensor always, Tensor masked)> make;
};

class DynamicRowPairs : public ::testing::TestWithParam<Pair> {
 protected:
  // Runs with a mask that keeps so many rows.
  void run(int kept, const std::vector<std::string>& disabled_passes) {
    GraphScope g;
    const Pair& pair = GetParam();
    auto always = placeholder(pair.always, pair.dtype, "always");
    auto y = pair.make(always, boolean_mask(placeholder(pair.masked, f32, "x"), placeholder({3}, boolean, "mask")));
    HostTensor mask({3}, boolean);
    for (int i = 0; i < kept; ++i) mask.set(i, 1);
    Session s(g.graph(), {.disabled_passes = disabled_passes});
    s.run(y, {{"always", HostTensor(pair.always, pair.dtype)}, {"x", HostTensor(pair.masked, f32)}, {"mask", mask}});
  }
};

TEST_P(DynamicRowPairs, of_other_numbers_are_refused) {
  for (const std::vector<std::string>& disabled : {std::vector<std::string>{}, {"fuse"}}) {
    EXPECT_NO_THROW(run(3, disabled));
    for (int kept = 0; kept < 3; ++kept) {
      const std::string text = error_of<InvalidArgument>([&] { run(kept, disabled); });
      EXPECT_CONTAINS(text, "different data");
      for (int rows : {3, kept}) EXPECT_CONTAINS(text, str(" has ", rows).c_str());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ops, DynamicRowPairs,
    ::testing::Values(
        Pair{"add", {3, 2}, {3, 2}, f32, [](Tensor a, Tensor b) { return a + b; }},
        Pair{"stack",
             {3},
             {3},
             f32,
             [](Tensor a, Tensor b) {
               return stack({a, b}, 1);
             }},
        Pair{"stack_last",
             {3},
             {3},
             f32,
             [](Tensor a, Tensor b) {
               return stack({b, a}, -1);
             }},
        Pair{"concat",
             {3, 2},
             {3, 4},
             f32,
             [](Tensor a, Tensor b) {
               return concat({a, b}, 1);
             }},
        Pair{"gather_of_batches",
             {3},
             {3, 4},
             i32,
             [](Tensor a, Tensor b) {
               return gather(b, a, {1, 1});
             }},
        Pair{"labels", {3}, {3, 4}, i32, [](Tensor a, Tensor b) { return sparse_softmax_cross_entropy(b, a); }},
        Pair{"target", {3, 2}, {3, 2}, f32, [](Tensor a, Tensor b) { return mean_squared_error(b, a); }},
        Pair{"prediction", {3, 2}, {3, 2}, f32, [](Tensor a, Tensor b) { return mean_squared_error(a, b); }},
        Pair{"logits", {3}, {3}, f32, [](Tensor a, Tensor b) { return sigmoid_cross_entropy(b, a); }},
        Pair{"matmul", {3, 2, 4}, {3, 4, 2}, f32, [](Tensor a, Tensor b) { return matmul(a, b); }},
        Pair{"reduced", {3, 2}, {3, 2}, f32, [](Tensor a, Tensor b) { return reduce_sum(square(a - b)); }},
        Pair{"reduced_to_nothing",
             {3, 0},
             {3, 0},
             f32,
             [](Tensor a, Tensor b) { return reduce_max(a - b, {.axes = {0}}); }}),
    [](const auto& test) { return test.param.op; });

TEST(DynamicRows, are_not_those_of_an_input_that_is_repeated) {
  GraphScope g;
  auto kept = boolean_mask(placeholder({1, 2}, f32, "x"), placeholder({1}, boolean, "mask"));
  auto row = placeholder({1, 2}, f32, "row"), columns = placeholder({2}, f32, "columns");
  Session s;
  const HostTensor two({1, 2}, f32);
  const auto y =
      s.run({kept + row, kept + columns, broadcast_like(columns, kept), reduce_sum(kept * row)},
            {{"x", two}, {"mask", HostTensor({1}, boolean)}, {"row", two}, {"columns", HostTensor({2}, f32)}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(y[static_cast<size_t>(i)].shape(), Shape(0, 2));
  EXPECT_EQ(y[3].scalar<float>(), 0);
}

}  // namespace
}  // namespace martello
