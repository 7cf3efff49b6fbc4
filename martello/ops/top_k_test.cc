#include <martello/graph/core_ops.h>
#include <martello/ops/top_k.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace martello::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

HostTensors naive_top_k(const HostTensor& x, int64_t k) {
  const int64_t n = x.shape()[-1], rows = n > 0 ? x.num_elements() / n : 0;
  const Shape shape = x.shape().with(x.shape().rank() - 1, k);
  HostTensor values(shape, f64), indices(shape, i64);
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), int64_t{0});
    const auto at = [&](int64_t i) { return std::isnan(x.at(r * n + i)) ? HUGE_VAL : x.at(r * n + i); };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return at(a) > at(b); });
    for (int64_t j = 0; j < k; ++j) {
      indices.set(r * k + j, static_cast<double>(order[static_cast<size_t>(j)]));
      values.set(r * k + j, x.at(r * n + order[static_cast<size_t>(j)]));
    }
  }
  return {values, indices};
}

OpCase row(std::string label, HostTensor x, int64_t k, bool gradient = true) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build =
              [=](TensorList in) {
                const TopK top = top_k(in[0], k);
                return TensorList{top.values, top.indices};
              },
          .reference = [=](const HostTensors& in) { return naive_top_k(in[0], k); },
          .gradient = gradient};
}

}  // namespace

OP_TEST(top_k, row("three of ten", randn({7, 10}), 3), row("all", randn({2, 9}), 9), row("none", randn({2, 9}), 0),
        row("vector", randn({40}), 5), row("ties", integers({20, 30}, 0, 4, i32), 7),
        row("rank four", randn({2, 1, 3, 6}), 2), row("no rows", randn({0, 6}), 2),
        row("nan", HostTensor::of<double>({1, kNan, 3, 2}), 2, false), row("long", randn({1, 5000}), 50));

OP_TEST(take_along_last, {.label = "repeated indices",
                          .inputs = {randn({3, 5}), HostTensor::of<int32_t>({0, 4, 4, 1, 1, 1}, {3, 2})},
                          .build = [](TensorList x) { return TensorList{take_along_last(x[0], x[1])}; },
                          .reference =
                              [](const HostTensors& x) {
                                HostTensor y({3, 2}, f64);
                                for (int64_t i = 0; i < 6; ++i)
                                  y.set(i, x[0].at(i / 2 * 5 + static_cast<int64_t>(x[1].at(i))));
                                return HostTensors{y};
                              },
                          .second_order = true});

OP_TEST(add_along_last,
        {.label = "repeated indices",
         .inputs = {randn({3, 2}), HostTensor::of<int64_t>({0, 4, 4, 4, 1, 1}, {3, 2}), HostTensor({3, 5}, i32)},
         .build = [](TensorList x) { return TensorList{add_along_last(x[0], x[1], x[2])}; },
         .reference =
             [](const HostTensors& x) {
               HostTensor y({3, 5}, f64);
               for (int64_t i = 0; i < 6; ++i) {
                 const int64_t at = i / 2 * 5 + static_cast<int64_t>(x[1].at(i));
                 y.set(at, y.at(at) + x[0].at(i));
               }
               return HostTensors{y};
             },
         .second_order = true});

OP_REFUSES(top_k, more_than_there_are, [] { top_k(placeholder({2, 3}, f32, "x"), 4); }, {"top_k", "k is 4", "[2, 3]"})
OP_REFUSES(top_k, negative_k, [] { top_k(placeholder({kUnknown}, f32, "x"), -1); }, {"top_k", "k is -1"})
OP_REFUSES(top_k, scalars, [] { top_k(placeholder({}, f32, "x"), 0); }, {"top_k", "scalar"})
OP_REFUSES(top_k, bools, [] { top_k(placeholder({3}, boolean, "x"), 1); }, {"top_k", "bool"})
OP_REFUSES(take_along_last, other_rows,
           [] {
             take_along_last(placeholder({2, 3}, f32, "x"), placeholder({3, 3}, i32, "i"));
           },
           {"take_along_last", "[2]", "[3]"})
OP_REFUSES(add_along_last, floating_indices,
           [] {
             const Tensor x = placeholder({2, 3}, f32, "x");
             add_along_last(x, x, x);
           },
           {"add_along_last", "i32"})

}  // namespace martello::testing
