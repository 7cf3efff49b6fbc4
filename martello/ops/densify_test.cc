#include <martello/graph/core_ops.h>
#include <martello/ops/densify.h>
#include <martello/ops/shape.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensors naive_densify(const HostTensors& in, int64_t rows) {
  const int64_t columns = in[1].shape().num_elements(1, in[1].shape().rank());
  HostTensor y(in[1].shape().with(0, rows), f64);
  for (int64_t i = 0; i < in[0].num_elements(); ++i)
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t to = static_cast<int64_t>(in[0].at(i)) * columns + c;
      y.set(to, y.at(to) + in[1].at(i * columns + c));
    }
  return {y.cast(in[1].dtype())};
}

OpCase densify_case(std::string label, HostTensor indices, HostTensor values, int64_t rows) {
  return {.label = std::move(label),
          .inputs = {std::move(indices), std::move(values)},
          .build = [rows](TensorList in) { return TensorList{densify(in[0], in[1], rows)}; },
          .reference = [rows](const HostTensors& in) { return naive_densify(in, rows); },
          .dtypes = {f32, f64, bf16, f16},
          .second_order = true};
}

OP_TEST(densify, densify_case("repeated rows", integers({8}, 0, 5), randn({8, 3}), 5),
        densify_case("elements", integers({20}, 0, 3, i64), randn({20}), 3),
        densify_case("wide rows", integers({6}, 0, 4), randn({6, 2, 270}), 4),
        densify_case("no indices", integers({0}, 0, 5), randn({0, 3}), 5),
        densify_case("no columns", integers({2}, 0, 5), randn({2, 0}), 5),
        {.label = "as many rows as another",
         .inputs = {integers({4}, 0, 3), randn({4, 2}), randn({3})},
         .build = [](TensorList x) { return TensorList{densify(x[0], x[1], shape(x[2])[0])}; },
         .reference = [](const HostTensors& in) { return naive_densify(in, 3); },
         .gradient = false});

OP_REFUSES(densify, other_count,
           [] {
             densify(placeholder({3}, i32, "i"), placeholder({2, 2}, f32, "v"), 5);
           },
           {"f32[2, 2]", "i32[3]"})
OP_REFUSES(densify, index_matrix,
           [] {
             densify(placeholder({3, 1}, i32, "i"), placeholder({3}, f32, "v"), 5);
           },
           {"rank 1"})
OP_REFUSES(densify, unknown_rows, [] { densify(placeholder({3}, i32, "i"), placeholder({3}, f32, "v"), -1); },
           {"one known size"})

}  // namespace
}  // namespace martello::testing
