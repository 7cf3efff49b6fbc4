#include <martello/graph/core_ops.h>
#include <martello/ops/add_n.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace martello::testing {
namespace {

HostTensors naive(const HostTensors& in) {
  return {map_elements(
      in, [](const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }, f64)};
}
TensorList build(TensorList x) { return {add_n(x)}; }

std::vector<OpCase> rows() {
  std::vector<OpCase> cases;
  for (const Shape& shape : {Shape(), Shape(2, 0), Shape(3, 1217), Shape(70000), Shape(2, 1, 2, 3, 1, 2)})
    for (int n : {1, 2, 5}) {
      HostTensors floats, ints;
      for (int i = 0; i < n; ++i) {
        floats.push_back(randn(shape, static_cast<uint64_t>(i + 1)));
        ints.push_back(integers(shape, -9, 9, i64, static_cast<uint64_t>(i + 1)));
      }
      cases.push_back({.label = str(n, " of ", shape),
                       .inputs = floats,
                       .build = build,
                       .reference = naive,
                       .gradient = shape.num_elements() < 100,
                       .second_order = n == 5 && shape.rank() == 6});
      cases.push_back({.label = str(n, " of i64 ", shape),
                       .inputs = ints,
                       .build = build,
                       .reference = naive,
                       .dtypes = {f32},
                       .gradient = false});
    }
  const HostTensor high = HostTensor::of<int32_t>({std::numeric_limits<int32_t>::max()});
  cases.push_back({.label = "wraps",
                   .inputs = {high, high},
                   .build = build,
                   .reference = [](const HostTensors&) { return HostTensors{HostTensor::of<int32_t>({-2})}; },
                   .dtypes = {f32},
                   .gradient = false});
  // The same tensor three times: an output that takes its memory must not change what is still to be read.
  cases.push_back({.label = "one thrice",
                   .inputs = {randn({5000})},
                   .build =
                       [](TensorList x) {
                         return TensorList{add_n({x[0], x[0], x[0]})};
                       },
                   .reference =
                       [](const HostTensors& in) {
                         return naive({in[0], in[0], in[0]});
                       },
                   .gradient = false});
  return cases;
}

}  // namespace

static const OpTestRows op_test_rows_add_n("add_n", __FILE__, __LINE__, rows());

OP_REFUSES(add_n, none, [] { add_n({}); }, {"[add_n 'add_n']", "0 inputs"})
OP_REFUSES(add_n, shapes,
           [] {
             add_n({placeholder({2}, f32, "a"), placeholder({1}, f32, "b")});
           },
           {"[add_n 'add_n'] xs[0] is [2] but xs[1] is [1]"})
OP_REFUSES(add_n, dtypes,
           [] {
             add_n({placeholder({2}, f32, "a"), placeholder({2}, f64, "b")});
           },
           {"[add_n 'add_n'] xs[0] is f32[2] but xs[1] is f64[2]"})

}  // namespace martello::testing
