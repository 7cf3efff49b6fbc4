#include <martello/graph/core_ops.h>
#include <martello/ops/cumsum.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensor naive_cumsum(const HostTensor& x, const CumsumAttrs& a) {
  const Shape& shape = x.shape();
  const int axis = normalized_axis(a.axis, shape.rank());
  const int64_t n = shape[axis], inner = shape.num_elements(axis + 1, shape.rank());
  HostTensor y(shape, f64);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const int64_t own = i / inner % n;
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      const bool is_before = a.reverse ? j > own : j < own;
      if (is_before || (j == own && !a.exclusive)) sum += x.at(i + (j - own) * inner);
    }
    y.set(i, sum);
  }
  return y;
}

OpCase row(std::string label, HostTensor x, CumsumAttrs a) {
  const bool is_smooth = is_floating(x.dtype());
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{cumsum(in[0], a)}; },
          .reference = [=](const HostTensors& in) { return HostTensors{naive_cumsum(in[0], a)}; },
          .second_order = is_smooth};
}

}  // namespace

OP_TEST(cumsum, row("vector", randn({37}), {}), row("columns", randn({5, 70}), {.axis = 0}),
        row("rows", randn({70, 5}), {.axis = -1}), row("exclusive", randn({4, 9, 3}), {.axis = 1, .exclusive = true}),
        row("many rows", randn({21, 33}), {.axis = 1}),
        row("many rows, both", randn({21, 33}), {.axis = 1, .exclusive = true, .reverse = true}),
        row("many rows of integers", integers({19, 7}, -9, 9, i32), {.axis = 1, .reverse = true}),
        row("reverse", randn({4, 9}), {.axis = 1, .reverse = true}),
        row("both", randn({4, 9}), {.axis = 0, .exclusive = true, .reverse = true}),
        row("integers", integers({6, 80}, -9, 9, i32), {.axis = 0}),
        row("long integers", integers({80, 6}, -9, 9, i64), {.axis = 1}),
        row("many columns of integers", integers({3, 8203}, -9, 9, i32), {.axis = 0}),
        row("nothing", randn({0, 3}), {.axis = 0}), row("rank six", randn({2, 1, 3, 2, 2, 3}), {.axis = -4}));

OP_REFUSES(cumsum, axis_out_of_range,
           [] {
             cumsum(placeholder({2, 3}, f32, "x"), {.axis = -3});
           },
           {"cumsum", "axis -3", "[2, 3]"})
OP_REFUSES(cumsum, bools, [] { cumsum(placeholder({2}, boolean, "x")); }, {"cumsum", "bool", "f32"})

}  // namespace martello::testing
