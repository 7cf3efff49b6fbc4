#include <martello/graph/core_ops.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

Reference reshaped_to(Shape y) {
  return [y](const HostTensors& in) { return HostTensors{in[0].reshaped(y)}; };
}
OpCase reshape_case(std::string label, const HostTensor& x, Shape asked, Shape y) {
  return {.label = std::move(label),
          .inputs = {x},
          .build = [asked](TensorList in) { return TensorList{reshape(in[0], asked)}; },
          .reference = reshaped_to(y),
          .dtypes = {f32, f64, bf16, f16},
          .second_order = true};
}
OpCase axis_case(std::string label, Shape x, int axis, Shape y) {
  return {.label = std::move(label),
          .inputs = {randn(x)},
          .build = [axis](TensorList in) { return TensorList{expand_dims(in[0], axis)}; },
          .reference = reshaped_to(y)};
}
OpCase squeeze_case(std::string label, Shape x, std::vector<int> axes, Shape y) {
  return {.label = std::move(label),
          .inputs = {randn(x)},
          .build = [axes](TensorList in) { return TensorList{squeeze(in[0], axes)}; },
          .reference = reshaped_to(y),
          .unknown_shapes = !axes.empty()};
}

OP_TEST(reshape, reshape_case("matrix", randn({4, 6}), {3, 8}, {3, 8}),
        reshape_case("one size inferred", randn({4, 6}), {2, -1}, {2, 12}),
        reshape_case("scalar to vector", randn({}), {1}, {1}), reshape_case("to scalar", randn({1, 1}), {}, {}),
        reshape_case("rank 6", randn({2, 3, 4}), {1, 2, 3, 2, 2, 1}, {1, 2, 3, 2, 2, 1}),
        reshape_case("empty", randn({0, 4}), {2, 0, 7}, {2, 0, 7}),
        reshape_case("empty batch inferred", randn({0, 4}), {-1, 2}, {0, 2}),
        reshape_case("inferred beside an empty batch", randn({0, 4, 2}), {0, -1}, {0, 8}),
        {.label = "by the shape of another",
         .inputs = {randn({4, 6}), randn({3, 8})},
         .build = [](TensorList x) { return TensorList{reshape(x[0], shape(x[1])) + 0 * x[1]}; },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{in[0].reshaped({3, 8})};
             }},
        {.label = "flattened behind the batch",
         .inputs = {randn({5, 2, 3})},
         .build =
             [](TensorList x) {
               return TensorList{reshape(x[0], {shape(x[0])[0], -1})};
             },
         .reference = reshaped_to({5, 6})},
        {.label = "empty batch with a tensor size",
         .inputs = {randn({0, 2, 3})},
         .build =
             [](TensorList x) {
               return TensorList{reshape(x[0], {shape(x[0])[0], -1})};
             },
         .reference = reshaped_to({0, 6}),
         .gradient = false},
        {.label = "bytes",
         .inputs = {integers({6}, 0, 200, u8)},
         .build =
             [](TensorList x) {
               return TensorList{reshape(x[0], {2, 3})};
             },
         .reference = reshaped_to({2, 3})});

OP_TEST(flatten,
        {.label = "images",
         .inputs = {randn({3, 2, 2, 5})},
         .build = [](TensorList x) { return TensorList{flatten(x[0])}; },
         .reference = reshaped_to({3, 20})},
        {.label = "vector",
         .inputs = {randn({3})},
         .build = [](TensorList x) { return TensorList{flatten(x[0])}; },
         .reference = reshaped_to({3, 1})},
        {.label = "empty",
         .inputs = {randn({0, 2, 2})},
         .build = [](TensorList x) { return TensorList{flatten(x[0])}; },
         .reference = reshaped_to({0, 4})});

OP_TEST(expand_dims, axis_case("first", {3, 2}, 0, {1, 3, 2}), axis_case("last", {3, 2}, -1, {3, 2, 1}),
        axis_case("middle from the end", {3, 2}, -2, {3, 1, 2}), axis_case("scalar", {}, 0, {1}),
        axis_case("rank 5", {1, 2, 3, 1, 2}, 2, {1, 2, 1, 3, 1, 2}), axis_case("empty", {0}, 1, {0, 1}));
OP_TEST(squeeze, squeeze_case("all", {1, 3, 1, 2}, {}, {3, 2}), squeeze_case("one", {1, 3, 1, 2}, {2}, {1, 3, 2}),
        squeeze_case("from the end", {3, 1, 1}, {-1, -2}, {3}), squeeze_case("to scalar", {1, 1}, {0, 1}, {}),
        squeeze_case("empty", {0, 1}, {1}, {0}));

OP_REFUSES(reshape, other_count,
           [] {
             reshape(placeholder({2, 3}, f32, "x"), {4, 2});
           },
           {"reshape", "[2, 3]", "[4, 2]"})
OP_REFUSES(reshape, two_inferred, [] { reshape(placeholder({2, 3}, f32, "x"), {-1, -1}); }, {"2 sizes of -1"})
OP_REFUSES(reshape, no_divisor, [] { reshape(placeholder({2, 3}, f32, "x"), {4, -1}); }, {"6", "multiple of 4"})
OP_REFUSES(reshape, inferred_beside_zero,
           [] {
             reshape(placeholder({2, 0}, f32, "x"), {0, -1});
           },
           {"-1 beside a size of 0"})
OP_REFUSES(reshape, negative_size, [] { reshape(placeholder({2}, f32, "x"), {-7}); }, {"-7"})
OP_REFUSES(reshape, too_many_elements,
           [] {
             reshape(placeholder({2}, f32, "x"), {int64_t{1} << 62, int64_t{1} << 62});
           },
           {"reshape"})
OP_REFUSES(flatten, scalar, [] { flatten(placeholder({}, f32, "x")); }, {"flatten", "scalar"})
OP_REFUSES(expand_dims, axis_out_of_range, [] { expand_dims(placeholder({2}, f32, "x"), 3); }, {"axis 3", "f32[2]"})
OP_REFUSES(squeeze, not_one, [] { squeeze(placeholder({2, 1}, f32, "x"), {0}); }, {"dimension 0", "is 2"})
OP_REFUSES(squeeze, unknown_without_axes, [] { squeeze(placeholder({kUnknown, 1}, f32, "x")); }, {"Name the axes"})

}  // namespace
}  // namespace martello::testing
