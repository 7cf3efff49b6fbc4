#include <martello/graph/core_ops.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/one_hot.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

OpCase one_hot_case(std::string label, HostTensor indices, int64_t depth, OneHotAttrs a = {}) {
  const auto naive = [a, depth](const HostTensors& in) {
    const int axis = normalized_axis(a.axis, in[0].shape().rank() + 1);
    auto dims = in[0].shape().symbolic();
    dims.insert(dims.begin() + axis, depth);
    return HostTensors{tabulate(Shape(dims), a.dtype, [&](Index i) {
      const int64_t k = i[static_cast<size_t>(axis)];
      i.erase(i.begin() + axis);
      return at(in[0], i) == static_cast<double>(k) ? a.on : a.off;
    })};
  };
  return {.label = std::move(label),
          .inputs = {std::move(indices)},
          .build = [a, depth](TensorList in) { return TensorList{one_hot(in[0], depth, a)}; },
          .reference = naive,
          .dtypes = {f32}};
}

OP_TEST(one_hot, one_hot_case("labels", integers({7}, 0, 5), 5), one_hot_case("scalar", integers({}, 0, 5), 5),
        one_hot_case("outside the depth", integers({9}, -2, 7, i64), 4),
        one_hot_case("first axis", integers({4, 3}, 0, 5), 5, {.axis = 0}),
        one_hot_case("middle axis", integers({4, 3}, 0, 5), 5, {.axis = 1}),
        one_hot_case("smoothed", integers({4}, 0, 3), 3, {.on = 0.9, .off = 0.05, .dtype = f64}),
        one_hot_case("integers of bytes", integers({4}, 0, 3, u8), 3, {.on = 7, .off = -1, .dtype = i32}),
        one_hot_case("bools", integers({4}, 0, 3), 3, {.dtype = boolean}),
        one_hot_case("half", integers({4}, 0, 3), 3, {.dtype = f16}), one_hot_case("no depth", integers({4}, 0, 3), 0),
        one_hot_case("empty", integers({0, 2}, 0, 3), 3));

OP_REFUSES(one_hot, floating_indices, [] { one_hot(placeholder({2}, f32, "i"), 3); }, {"f32[2]", "i32, i64, u8"})
OP_REFUSES(one_hot, negative_depth, [] { one_hot(placeholder({2}, i32, "i"), -3); }, {"-3"})
OP_REFUSES(one_hot, axis_out_of_range, [] { one_hot(placeholder({2}, i32, "i"), 3, {.axis = 2}); }, {"axis 2"})
OP_REFUSES(one_hot, value_of_other_type, [] { one_hot(placeholder({2}, i32, "i"), 3, {.on = 0.5, .dtype = i32}); },
           {"0.5"})

}  // namespace
}  // namespace martello::testing
