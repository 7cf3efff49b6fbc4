#include <martello/graph/core_ops.h>
#include <martello/ops/internal/naive_reduce.h>
#include <martello/ops/reduce.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace martello::testing {
namespace {

using internal::naive_reduce;
constexpr double kInf = std::numeric_limits<double>::infinity();

double sum(const std::vector<double>& v) {
  double s = 0;
  for (const double x : v) s += x;
  return s;
}
double mean(const std::vector<double>& v) { return sum(v) / static_cast<double>(v.size()); }
double max(const std::vector<double>& v) {
  double m = -kInf;
  for (const double x : v) m = std::isnan(x) || x > m ? x : m;
  return m;
}
double min(const std::vector<double>& v) {
  double m = kInf;
  for (const double x : v) m = std::isnan(x) || x < m ? x : m;
  return m;
}
double prod(const std::vector<double>& v) {
  double p = 1;
  for (const double x : v) p *= x;
  return p;
}
double all(const std::vector<double>& v) { return std::find(v.begin(), v.end(), 0.0) == v.end(); }
double any(const std::vector<double>& v) { return std::find(v.begin(), v.end(), 1.0) != v.end(); }

using Builder = Tensor (*)(Operand, ReduceAttrs, Name);

OpCase row(Builder f, double (*of)(const std::vector<double>&), std::string label, HostTensor x, ReduceAttrs a) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{f(in[0], a, "y")}; },
          .reference = [=](const HostTensors& in) { return HostTensors{naive_reduce(in[0], a, of)}; }};
}

OpCase twice(OpCase c) {
  c.second_order = true;
  return c;
}

// 1, 2, 3 ... in a scattered order: no ties, so that finite differences see one extreme.
HostTensor distinct(Shape shape) {
  HostTensor x(shape, f64);
  const int64_t n = x.num_elements();
  for (int64_t i = 0; i < n; ++i) x.set(i, static_cast<double>((i * 7919 + 13) % 10007) / 100 - 50);
  return x;
}

const auto kRankSix = Shape(2, 3, 1, 2, 3, 2);

}  // namespace

OP_TEST(reduce_sum, twice(row(reduce_sum, sum, "all", randn({3, 5}), {})),
        twice(row(reduce_sum, sum, "scalar", randn({}), {})),
        twice(row(reduce_sum, sum, "rows", randn({37, 5}), {.axes = 0})),
        twice(row(reduce_sum, sum, "columns", randn({5, 37}), {.axes = -1, .keep_dims = true})),
        row(reduce_sum, sum, "middle", randn({4, 9, 3}), {.axes = 1}),
        row(reduce_sum, sum, "outer and inner", randn({3, 4, 5}), {.axes = {0, 2}}),
        row(reduce_sum, sum, "rank six", randn(kRankSix), {.axes = {-1, 1, 3}, .keep_dims = true}),
        row(reduce_sum, sum, "no elements", randn({0, 3}), {.axes = 0}),
        row(reduce_sum, sum, "no outputs", randn({0, 3}), {.axes = 1}),
        row(reduce_sum, sum, "one", randn({1, 1}), {.axes = 0}),
        row(reduce_sum, sum, "integers", integers({7, 300}, -9, 9, i32), {.axes = 1}),
        row(reduce_sum, sum, "long integers", integers({70000}, -9, 9, i64), {}),
        row(reduce_sum, sum, "rows of integers", integers({50, 40}, -9, 9, i64), {.axes = 0}),
        row(reduce_sum, sum, "narrow rows of integers", integers({3000, 7}, -9, 9, i32), {.axes = 0}),
        row(reduce_sum, sum, "wide rows of integers", integers({40, 2100}, -9, 9, i32), {.axes = 0}),
        row(reduce_sum, sum, "few long rows of integers", integers({3, 5000}, -9, 9, i64), {.axes = 1}),
        row(reduce_sum, sum, "a middle axis of integers", integers({20, 90, 70}, -9, 9, i32), {.axes = 1}),
        row(reduce_sum, sum, "integers of rank six", integers(kRankSix, -9, 9, i32), {.axes = {0, 2, 5}}));

OP_TEST(reduce_mean, twice(row(reduce_mean, mean, "all", randn({3, 5}), {})),
        twice(row(reduce_mean, mean, "rows", randn({33, 4}), {.axes = 0})),
        twice(row(reduce_mean, mean, "columns", randn({4, 33}), {.axes = {1}, .keep_dims = true})),
        row(reduce_mean, mean, "images", randn({2, 5, 4, 3}), {.axes = {1, 2}}),
        row(reduce_mean, mean, "scalar", randn({}), {}));

OP_TEST(reduce_max, row(reduce_max, max, "all", distinct({3, 50}), {}),
        row(reduce_max, max, "rows", distinct({37, 5}), {.axes = 0}),
        row(reduce_max, max, "columns", distinct({5, 37}), {.axes = -1, .keep_dims = true}),
        row(reduce_max, max, "outer and inner", distinct({3, 4, 5}), {.axes = {0, -1}}),
        row(reduce_max, max, "integers", integers({5, 40}, -99, 99, i32), {.axes = 1}),
        row(reduce_max, max, "no elements", randn({3, 0}), {.axes = 1}));

OP_TEST(reduce_min, row(reduce_min, min, "all", distinct({3, 50}), {}),
        row(reduce_min, min, "rows", distinct({37, 5}), {.axes = 0}),
        row(reduce_min, min, "columns", distinct({5, 37}), {.axes = -1, .keep_dims = true}),
        row(reduce_min, min, "integers", integers({5, 40}, -99, 99, i64), {.axes = 0}),
        row(reduce_min, min, "no elements", randn({3, 0}), {.axes = 1}));

OP_TEST(reduce_prod, row(reduce_prod, prod, "all", uniform({2, 5}, 0.5, 2), {}),
        row(reduce_prod, prod, "rows", uniform({9, 5}, 0.5, 2), {.axes = 0}),
        row(reduce_prod, prod, "one zero", HostTensor::of<double>({3, 0, 2, 5, 4, 1}, {2, 3}), {.axes = 1}),
        row(reduce_prod, prod, "two zeros", HostTensor::of<double>({3, 0, 0}), {}),
        row(reduce_prod, prod, "outer and inner", uniform({2, 3, 4}, 0.5, 2), {.axes = {0, 2}, .keep_dims = true}),
        row(reduce_prod, prod, "integers", integers({4, 5}, -3, 4, i64), {.axes = 1}),
        row(reduce_prod, prod, "no elements", randn({0}), {}));

OP_TEST(reduce_all, row(reduce_all, all, "many rows", booleans({2000, 3}), {.axes = 0}),
        row(reduce_all, all, "columns", booleans({9, 2}), {.axes = 1}),
        row(reduce_all, all, "rows", booleans({2, 37}), {.axes = 0}),
        row(reduce_all, all, "no elements", booleans({0}), {}));
OP_TEST(reduce_any, row(reduce_any, any, "columns", booleans({9, 2}), {.axes = 1, .keep_dims = true}),
        row(reduce_any, any, "all", booleans({2, 3, 4}), {}), row(reduce_any, any, "no elements", booleans({0}), {}));

OP_TEST(product_of_others, {.label = "rows",
                            .inputs = {uniform({5, 3}, 0.5, 2)},
                            .build = [](TensorList x) { return TensorList{product_of_others(x[0], {.axes = 0})}; },
                            .reference =
                                [](const HostTensors& in) {
                                  HostTensor y(in[0].shape(), f64);
                                  for (int64_t i = 0; i < 15; ++i) {
                                    double p = 1;
                                    for (int64_t j = i % 3; j < 15; j += 3) p *= j == i ? 1 : in[0].at(j);
                                    y.set(i, p);
                                  }
                                  return HostTensors{y};
                                },
                            .second_order = true});

OP_REFUSES(reduce_sum, axis_out_of_range,
           [] {
             reduce_sum(placeholder({2, 3}, f32, "x"), {.axes = 2});
           },
           {"reduce_sum", "axis 2", "[2, 3]"})
OP_REFUSES(reduce_sum, axis_named_twice,
           [] {
             reduce_sum(placeholder({2, 3}, f32, "x"), {.axes = {1, -1}});
           },
           {"reduce_sum", "axis -1", "second time", "[2, 3]"})
OP_REFUSES(reduce_mean, integers, [] { reduce_mean(placeholder({2}, i32, "x")); }, {"reduce_mean", "i32", "f32"})
OP_REFUSES(reduce_all, floats, [] { reduce_all(placeholder({2}, f32, "x")); }, {"reduce_all", "f32", "bool"})
OP_REFUSES(reduce_sum, bytes, [] { reduce_sum(placeholder({2}, u8, "x")); }, {"reduce_sum", "u8", "i64"})

}  // namespace martello::testing
