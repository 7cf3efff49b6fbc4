#include <martello/graph/core_ops.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/transpose.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensor naive_transpose(const HostTensor& x, const std::vector<int>& perm) {
  Shape y;
  for (const int p : perm) y.push_back(x.shape()[p]);
  return tabulate(y, x.dtype(), [&](const Index& i) {
    Index from(i.size());
    for (size_t d = 0; d < i.size(); ++d) from[static_cast<size_t>(normalized_axis(perm[d], x.shape().rank()))] = i[d];
    return at(x, from);
  });
}

OpCase transpose_case(std::string label, const HostTensor& x, std::vector<int> perm) {
  return {.label = std::move(label),
          .inputs = {x},
          .build = [perm](TensorList in) { return TensorList{transpose(in[0], perm)}; },
          .reference = [perm](const HostTensors& in) { return HostTensors{naive_transpose(in[0], perm)}; },
          .dtypes = {f32, f64, bf16, f16},
          .second_order = x.num_elements() < 100,
          .gradient_tolerance = 1e-5};
}
// Too large for finite differences.
OpCase large(OpCase c) {
  c.gradient = c.second_order = false;
  return c;
}

OP_TEST(transpose, transpose_case("matrix", randn({3, 5}), {1, 0}),
        transpose_case("batched", randn({2, 3, 5}), {0, 2, 1}),
        large(transpose_case("large odd matrix", randn({67, 131}), {1, 0})),
        large(transpose_case("NHWC to NCHW", randn({2, 9, 7, 35}), {0, 3, 1, 2})),
        large(transpose_case("NCHW to NHWC", randn({2, 35, 9, 7}), {0, 2, 3, 1})),
        large(transpose_case("heads", randn({2, 17, 4, 8}), {0, 2, 1, 3})),
        large(transpose_case("three channels", randn({2, 50, 3}), {0, 2, 1})),
        transpose_case("negative axes", randn({2, 3, 4}), {-1, 0, -2}),
        transpose_case("rank 6", randn({2, 1, 3, 2, 2, 2}), {5, 3, 1, 0, 4, 2}),
        transpose_case("vector", randn({5}), {0}), transpose_case("identity", randn({3, 4}), {0, 1}),
        transpose_case("empty", randn({0, 4}), {1, 0}),
        large(transpose_case("integers", integers({33, 34}, -9, 9, i64), {1, 0})),
        large(transpose_case("bools", booleans({33, 34}), {1, 0})),
        {.label = "reversed by default",
         .inputs = {randn({2, 3, 4})},
         .build = [](TensorList x) { return TensorList{transpose(x[0])}; },
         .reference =
             [](const HostTensors& in) {
               return HostTensors{naive_transpose(in[0], {2, 1, 0})};
             }},
        {.label = "scalar",
         .inputs = {randn({})},
         .build = [](TensorList x) { return TensorList{transpose(x[0])}; },
         .reference = [](const HostTensors& in) { return in; }});

OP_REFUSES(transpose, too_few_axes,
           [] {
             transpose(placeholder({2, 3}, f32, "x"), {0});
           },
           {"names 1 dimensions", "has 2"})
OP_REFUSES(transpose, an_axis_twice, [] { transpose(placeholder({2, 3}, f32, "x"), {1, 1}); }, {"dimension 1", "twice"})
OP_REFUSES(transpose, axis_out_of_range, [] { transpose(placeholder({2, 3}, f32, "x"), {0, 2}); }, {"axis 2"})

}  // namespace
}  // namespace martello::testing
