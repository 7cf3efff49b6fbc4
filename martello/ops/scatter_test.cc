#include <martello/graph/core_ops.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/scatter.h>
#include <martello/ops/shape.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensor naive_scatter(const HostTensor& indices, const HostTensor& updates, const Shape& y) {
  HostTensor sum(y, is_floating(updates.dtype()) ? f64 : updates.dtype());
  const size_t outer = static_cast<size_t>(indices.shape().rank()) - 1;
  for (int64_t u = 0; u < updates.num_elements(); ++u) {
    const Index i = index_of(updates.shape(), u);
    Index place;
    for (int64_t k = 0; k < indices.shape()[-1]; ++k)
      place.push_back(static_cast<int64_t>(at(indices, joined(part(i, 0, outer), {k}))));
    const int64_t flat = flat_index(y, joined(place, part(i, outer, i.size())));
    sum.set(flat, sum.at(flat) + updates.at(u));
  }
  return sum.cast(updates.dtype());
}

OpCase scatter_case(std::string label, HostTensor indices, const HostTensor& updates, Shape y) {
  return {.label = std::move(label),
          .inputs = {std::move(indices), updates},
          .build = [y](TensorList in) { return TensorList{scatter_nd(in[0], in[1], y)}; },
          .reference = [y](const HostTensors& in) { return HostTensors{naive_scatter(in[0], in[1], y)}; },
          .dtypes = {f32, f64, bf16, f16},
          .second_order = is_floating(updates.dtype()),
          .unknown_shapes = false};
}

HostTensors naive_gather_grad(const HostTensors& in) {
  HostTensor dx(Shape(2, 5, 3), f64);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t j = 0; j < 4; ++j)
      for (int64_t c = 0; c < 3; ++c) {
        const int64_t to = (b * 5 + static_cast<int64_t>(in[1].at(b * 4 + j))) * 3 + c;
        dx.set(to, dx.at(to) + in[0].at((b * 4 + j) * 3 + c));
      }
  return {dx.cast(in[0].dtype())};
}

OP_TEST(scatter_nd, scatter_case("elements with repeats", integers({9, 1}, 0, 4), randn({9}), {4}),
        scatter_case("rows with repeats", integers({6, 1}, 0, 4, i64), randn({6, 3}), {4, 3}),
        scatter_case("pairs", integers({2, 3, 2}, 0, 3), randn({2, 3, 2}), {3, 3, 2}),
        scatter_case("long rows", integers({5, 1}, 0, 3), randn({5, 300}), {3, 300}),
        scatter_case("no tuples", integers({0, 1}, 0, 4), randn({0, 2}), {4, 2}),
        scatter_case("everything at once", integers({3, 0}, 0, 4), randn({3, 2}), {2}),
        scatter_case("integers", integers({9, 1}, 0, 4), integers({9}, -9, 9, i64, 2), {4}),
        {.label = "the shape of another",
         .inputs = {integers({3, 1}, 0, 2), randn({3}), randn({2})},
         .build = [](TensorList x) { return TensorList{scatter_nd(x[0], x[1], shape(x[2])) + 0 * x[2]}; },
         .reference = [](const HostTensors& in) { return HostTensors{naive_scatter(in[0], in[1], {2})}; },
         .unknown_shapes = false});
OP_TEST(gather_grad, {.label = "batched",
                      .inputs = {randn({2, 4, 3}), integers({2, 4}, 0, 5)},
                      .build =
                          [](TensorList x) {
                            return TensorList{gather_grad(x[0], x[1], {.axis = 1, .batch_dims = 1}, {2, 5, 3})};
                          },
                      .reference = naive_gather_grad,
                      .second_order = true});

OP_REFUSES(scatter_nd, other_updates,
           [] {
             scatter_nd(placeholder({3, 1}, i32, "i"), placeholder({3, 2}, f32, "u"), {4, 5});
           },
           {"[3, 2]", "[3, 5]"})
OP_REFUSES(scatter_nd, too_many_axes,
           [] {
             scatter_nd(placeholder({3, 2}, i32, "i"), placeholder({3}, f32, "u"), {4});
           },
           {"address 2 axes"})
OP_REFUSES(scatter_nd, unknown_size,
           [] {
             scatter_nd(placeholder({3, 1}, i32, "i"), placeholder({3}, f32, "u"), {-1});
           },
           {"unknown"})
OP_REFUSES(gather_grad, other_gradient,
           [] { gather_grad(placeholder({3}, f32, "dy"), placeholder({2}, i32, "i"), {}, {5}); }, {"[3]", "[2]"})

}  // namespace
}  // namespace martello::testing
