#include <martello/graph/core_ops.h>
#include <martello/ops/arg_reduce.h>
#include <martello/ops/internal/naive_reduce.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace martello::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double argmax_of(const std::vector<double>& v) {
  size_t best = 0;
  for (size_t i = 1; i < v.size(); ++i)
    if (!std::isnan(v[best]) && (std::isnan(v[i]) || v[i] > v[best])) best = i;
  return static_cast<double>(best);
}
double argmin_of(const std::vector<double>& v) {
  size_t best = 0;
  for (size_t i = 1; i < v.size(); ++i)
    if (!std::isnan(v[i]) && (std::isnan(v[best]) || v[i] < v[best])) best = i;
  return static_cast<double>(best);
}
double count_of(const std::vector<double>& v) {
  double n = 0;
  for (const double x : v) n += x != 0;
  return n;
}

OpCase max_row(std::string label, HostTensor x, ArgReduceAttrs a) {
  const ReduceAttrs r{.axes = a.axis, .keep_dims = a.keep_dims};
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{argmax(in[0], a)}; },
          .reference = [=](const HostTensors& in) { return HostTensors{internal::naive_reduce(in[0], r, argmax_of)}; },
          .gradient = false};
}
OpCase min_row(std::string label, HostTensor x, ArgReduceAttrs a) {
  const ReduceAttrs r{.axes = a.axis, .keep_dims = a.keep_dims};
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{argmin(in[0], a)}; },
          .reference = [=](const HostTensors& in) { return HostTensors{internal::naive_reduce(in[0], r, argmin_of)}; },
          .gradient = false};
}
// Few values, so that there are ties, and NaN in the `which`-th of every seven rows.
HostTensor with_nan(Shape shape, int64_t which) {
  HostTensor x = integers(shape, 0, 9, f64);
  const int64_t n = shape[1];
  for (int64_t r = which; r < shape[0]; r += 7) {
    x.set(r * n + r % n, kNan);
    x.set(r * n + (r + 5) % n, kNan);
  }
  return x;
}

OpCase count_row(std::string label, HostTensor x, ReduceAttrs a) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{count_nonzero(in[0], a)}; },
          .reference = [=](const HostTensors& in) { return HostTensors{internal::naive_reduce(in[0], a, count_of)}; },
          .gradient = false};
}

}  // namespace

OP_TEST(argmax, max_row("last axis", randn({9, 10}), {}), max_row("long rows", randn({3, 1003}), {.axis = 1}),
        max_row("first axis", randn({7, 37}), {.axis = 0}), max_row("middle axis", randn({2, 5, 3}), {.axis = 1}),
        max_row("ties", integers({20, 50}, 0, 4, i32), {.axis = -1, .keep_dims = true}),
        max_row("ties in columns", integers({50, 3}, 0, 4, u8), {.axis = 0}),
        max_row("nan", HostTensor::of<double>({1, 5, kNan, 9, kNan}), {}), max_row("no rows", randn({0, 3}), {}),
        max_row("vector", integers({33}, -9, 9, i64), {.axis = 0}), max_row("one", randn({4, 1}), {}),
        max_row("rank six", randn({2, 1, 3, 2, 2, 3}), {.axis = -4}),
        max_row("many short rows", with_nan({77, 11}, 2), {}), max_row("many long rows", with_nan({21, 301}, 3), {}),
        max_row("narrow columns", with_nan({300, 5}, 4), {.axis = 0}),
        max_row("wide columns", with_nan({9, 1100}, 5), {.axis = 0}));

OP_TEST(argmin, min_row("last axis", randn({9, 10}), {}), min_row("long rows", randn({3, 1003}), {.axis = 1}),
        min_row("first axis", randn({7, 37}), {.axis = 0}), min_row("ties", integers({20, 50}, 0, 4, i64), {}),
        min_row("nan", HostTensor::of<double>({kNan, 5, kNan, 9, 5}), {}),
        min_row("only nan", HostTensor::of<double>({kNan, kNan}), {}),
        min_row("many short rows", with_nan({77, 11}, 2), {}), min_row("many long rows", with_nan({21, 301}, 3), {}),
        min_row("narrow columns", with_nan({300, 5}, 4), {.axis = 0}),
        min_row("wide columns", with_nan({9, 1100}, 5), {.axis = 0}));

OP_TEST(count_nonzero, count_row("all", integers({7, 9}, 0, 3, i32), {}),
        count_row("rows", integers({40, 19}, 0, 3, u8), {.axes = 0}),
        count_row("bools", booleans({4, 50}), {.axes = 1}),
        count_row("floats", HostTensor::of<double>({0, -0.0, 1, kNan}), {}),
        count_row("many", integers({100000}, 0, 3, i64), {}), count_row("none", randn({0, 2}), {.axes = 0}));

OP_REFUSES(argmax, empty_axis, [] { argmax(placeholder({3, 0}, f32, "x")); }, {"argmax", "axis -1", "[3, 0]"})
OP_REFUSES(argmax, scalars, [] { argmax(placeholder({}, f32, "x")); }, {"argmax", "axis -1"})
OP_REFUSES(argmin, bools, [] { argmin(placeholder({3}, boolean, "x")); }, {"argmin", "bool"})
OP_REFUSES(count_nonzero, axis_out_of_range, [] { count_nonzero(placeholder({3}, f32, "x"), {.axes = 1}); },
           {"count_nonzero", "axis 1"})

}  // namespace martello::testing
