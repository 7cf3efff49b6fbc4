#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/gather.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/shape.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensors naive_gather(const HostTensors& in, int axis, int batch_dims) {
  const Shape &x = in[0].shape(), &indices = in[1].shape();
  const size_t a = static_cast<size_t>(normalized_axis(axis, x.rank())), b = static_cast<size_t>(batch_dims);
  const size_t picked = static_cast<size_t>(indices.rank()) - b;
  Shape y = x.slice(0, static_cast<int>(a));
  for (int i = batch_dims; i < indices.rank(); ++i) y.push_back(indices[i]);
  for (int i = static_cast<int>(a) + 1; i < x.rank(); ++i) y.push_back(x[i]);
  return {tabulate(y, in[0].dtype(), [&](const Index& i) {
    const Index index = joined(part(i, 0, b), part(i, a, a + picked));
    const Index place = {static_cast<int64_t>(at(in[1], index))};
    return at(in[0], joined(joined(part(i, 0, a), place), part(i, a + picked, i.size())));
  })};
}

OpCase gather_case(std::string label, const HostTensor& x, HostTensor indices, GatherAttrs a = {}) {
  return {.label = std::move(label),
          .inputs = {x, std::move(indices)},
          .build = [a](TensorList in) { return TensorList{gather(in[0], in[1], a)}; },
          .reference = [a](const HostTensors& in) { return naive_gather(in, a.axis, a.batch_dims); },
          .dtypes = {f32, f64, bf16, f16},
          .second_order = is_floating(x.dtype())};
}

HostTensors naive_gather_nd(const HostTensors& in) {
  const Shape &x = in[0].shape(), &indices = in[1].shape();
  Shape y = indices.slice(0, indices.rank() - 1);
  for (int i = static_cast<int>(indices[-1]); i < x.rank(); ++i) y.push_back(x[i]);
  const size_t outer = static_cast<size_t>(indices.rank()) - 1;
  return {tabulate(y, in[0].dtype(), [&](const Index& i) {
    Index place;
    for (int64_t k = 0; k < indices[-1]; ++k)
      place.push_back(static_cast<int64_t>(at(in[1], joined(part(i, 0, outer), {k}))));
    return at(in[0], joined(place, part(i, outer, i.size())));
  })};
}

OpCase gather_nd_case(std::string label, HostTensor x, HostTensor indices) {
  return {.label = std::move(label),
          .inputs = {std::move(x), std::move(indices)},
          .build = [](TensorList in) { return TensorList{gather_nd(in[0], in[1])}; },
          .reference = naive_gather_nd,
          .second_order = true,
          .unknown_shapes = false};
}

OP_TEST(gather, gather_case("rows", randn({5, 3}), integers({7}, 0, 5)),
        gather_case("rows by a matrix", randn({5, 3}), integers({2, 4}, 0, 5, i64)),
        gather_case("one row", randn({5, 3}), integers({}, 0, 5)),
        gather_case("elements", randn({37}), integers({50}, 0, 37)),
        gather_case("columns", randn({2, 5, 3}), integers({4}, 0, 5), {.axis = 1}),
        gather_case("last axis", randn({2, 5}), integers({3, 2}, 0, 5), {.axis = -1}),
        gather_case("batched", randn({3, 5, 2}), integers({3, 4}, 0, 5), {.axis = 1, .batch_dims = 1}),
        gather_case("batched behind a middle", randn({2, 3, 5, 2}), integers({2, 4}, 0, 5),
                    {.axis = 2, .batch_dims = 1}),
        gather_case("one per batch", randn({3, 5}), integers({3}, 0, 5), {.axis = 1, .batch_dims = 1}),
        gather_case("no indices", randn({5, 3}), integers({0}, 0, 5)),
        gather_case("no columns", randn({5, 0}), integers({2, 2}, 0, 5)),
        gather_case("rank 6", randn({2, 2, 1, 3, 2, 1}), integers({2, 2}, 0, 3), {.axis = 3}),
        gather_case("integers", integers({6, 2}, -9, 9, i64), integers({4}, 0, 6)),
        gather_case("bools", booleans({6}), integers({9}, 0, 6)));
OP_TEST(gather_nd, gather_nd_case("elements", randn({4, 4}), integers({5, 2}, 0, 4)),
        gather_nd_case("rows", randn({4, 4, 2}), integers({2, 3, 2}, 0, 4, i64)),
        gather_nd_case("one", randn({4, 4}), integers({2}, 0, 4)),
        gather_nd_case("all of it", randn({2, 2}), integers({3, 0}, 0, 1)),
        gather_nd_case("no tuples", randn({4, 4}), integers({0, 2}, 0, 4)));

TEST(gather, keeps_what_is_known_of_sizes) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 3, 5}, f32, "x");
  const Tensor picked = gather(shape(x), constant(HostTensor::of<int32_t>({2, 0})));
  EXPECT_EQ(*picked.node()->outputs[0].value, (std::vector<int64_t>{5, x.shape().symbolic()[0]}));
}

TEST(gather, names_the_index_that_is_out_of_range) {
  GraphScope scope;
  const Tensor x = placeholder({3, 2}, f32, "x"), i = placeholder({4}, i32, "i"), pairs = placeholder({2, 2}, i64, "p");
  const Tensor rows = gather(x, i, "rows"), elements = gather_nd(x, pairs, "elements");
  Session session(scope.graph());
  const auto text_of = [&](Tensor fetch, const HostTensor& indices, Tensor to) {
    return error_of<InvalidArgument>([&] { session.run({fetch}, {{x, HostTensor({3, 2}, f32)}, {to, indices}}); });
  };
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "[gather 'rows'] indices[2] is 3, outside [0, 3)",
                      text_of(rows, HostTensor::of<int32_t>({0, 2, 3, -1}), i));
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "indices[3] is -1, outside [0, 3)",
                      text_of(rows, HostTensor::of<int32_t>({0, 2, 1, -1}), i));
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "[gather_nd 'elements'] indices[1, 1] is 2, outside [0, 2)",
                      text_of(elements, HostTensor::of<int64_t>({0, 1, 2, 2}, {2, 2}), pairs));
}

OP_REFUSES(gather, floating_indices, [] { gather(placeholder({2}, f32, "x"), placeholder({2}, f32, "i")); },
           {"i32 or i64"})
OP_REFUSES(gather, axis_out_of_range,
           [] { gather(placeholder({2}, f32, "x"), placeholder({2}, i32, "i"), {.axis = 1}); }, {"axis 1"})
OP_REFUSES(gather, batches_that_differ,
           [] {
             gather(placeholder({2, 3}, f32, "x"), placeholder({4}, i32, "i"), {.axis = 1, .batch_dims = 1});
           },
           {"2 and 4"})
OP_REFUSES(gather, batches_behind_the_axis,
           [] {
             gather(placeholder({2, 3}, f32, "x"), placeholder({2}, i32, "i"), {.axis = 0, .batch_dims = 1});
           },
           {"batch_dims 1", "axis 0"})
OP_REFUSES(gather_nd, too_many_axes,
           [] {
             gather_nd(placeholder({2}, f32, "x"), placeholder({4, 2}, i32, "i"));
           },
           {"address 2 axes", "has 1"})
OP_REFUSES(gather_nd, scalar_index, [] { gather_nd(placeholder({2}, f32, "x"), placeholder({}, i32, "i")); },
           {"last dimension"})

}  // namespace
}  // namespace martello::testing
