#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/like.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

// The element of x (shape `from`) that element i of `to` comes from.
int64_t source_of(const Shape& from, const Shape& to, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int d = 1; d <= to.rank(); ++d) {
    const int64_t size = to[to.rank() - d], own = d <= from.rank() ? from[from.rank() - d] : 1;
    if (own != 1) at += i % size * stride;
    stride *= own;
    i /= size;
  }
  return at;
}

HostTensor naive_broadcast(const HostTensor& x, const Shape& to) {
  HostTensor y(to, x.dtype());
  for (int64_t i = 0; i < y.num_elements(); ++i) y.set(i, x.at(source_of(x.shape(), to, i)));
  return y;
}

HostTensor naive_sum_to(const HostTensor& g, const Shape& to) {
  HostTensor y(to, f64);
  for (int64_t i = 0; i < g.num_elements(); ++i) {
    const int64_t at = source_of(to, g.shape(), i);
    y.set(at, y.at(at) + g.at(i));
  }
  return y;
}

OpCase sum_row(std::string label, HostTensor g, Shape x) {
  const bool is_smooth = is_floating(g.dtype());
  return {.label = std::move(label),
          .inputs = {std::move(g), HostTensor(x, i32)},
          .build = [](TensorList in) { return TensorList{sum_to_like(in[0], in[1])}; },
          .reference = [](const HostTensors& in) { return HostTensors{naive_sum_to(in[0], in[1].shape())}; },
          .second_order = is_smooth};
}
OpCase broadcast_row(std::string label, HostTensor x, Shape like) {
  const bool is_smooth = is_floating(x.dtype());
  return {.label = std::move(label),
          .inputs = {std::move(x), HostTensor(like, i32)},
          .build = [](TensorList in) { return TensorList{broadcast_like(in[0], in[1])}; },
          .reference = [](const HostTensors& in) { return HostTensors{naive_broadcast(in[0], in[1].shape())}; },
          .second_order = is_smooth};
}
OpCase shaped_row(HostTensor x) {
  const bool is_smooth = is_floating(x.dtype());
  return {.label = str(x.dtype(), x.shape()),
          .inputs = {x, HostTensor(x.shape(), i32)},
          .build =
              [](TensorList in) {
                return TensorList{add_op(op_shaped_like, {in[0], in[1]}, "y")};
              },
          .reference = [](const HostTensors& in) { return HostTensors{in[0]}; },
          .gradient = is_smooth,
          .second_order = is_smooth};
}
OpCase size_row(std::string label, Shape shape, SizeOfAttrs a, double expected) {
  return {.label = std::move(label),
          .inputs = {randn(shape)},
          .build = [=](TensorList in) { return TensorList{size_of(in[0], a)}; },
          .reference = [=](const HostTensors&) { return HostTensors{HostTensor(expected)}; },
          .gradient = false};
}
OpCase fill_row(std::string label, FillAttrs a) {
  return {.label = std::move(label),
          .build = [=](TensorList) { return TensorList{fill(a)}; },
          .reference = [=](const HostTensors&) { return HostTensors{HostTensor::full(a.shape, a.dtype, a.value)}; },
          .gradient = false};
}

}  // namespace

OP_TEST(sum_to_like, sum_row("same", randn({3, 4}), {3, 4}), sum_row("rows", randn({37, 5}), {5}),
        sum_row("bias of images", randn({2, 3, 4, 5}), {5}), sum_row("channels", randn({2, 3, 4, 5}), {3, 1, 1}),
        sum_row("kept rows", randn({9, 40}), {9, 1}), sum_row("scalar", randn({2, 3}), {}),
        sum_row("ones", randn({1, 3}), {3}), sum_row("no elements", randn({0, 3}), {3}),
        sum_row("rank six", randn({2, 3, 1, 2, 3, 2}), {2, 1, 1, 2, 1, 2}),
        sum_row("integers", integers({6, 50}, -9, 9, i64), {50}));

OP_TEST(broadcast_like, broadcast_row("same", randn({3, 4}), {3, 4}), broadcast_row("scalar", randn({}), {3, 5}),
        broadcast_row("row", randn({19}), {7, 19}), broadcast_row("column", randn({7, 1}), {7, 19}),
        broadcast_row("middle", randn({3, 1, 2}), {3, 4, 2}), broadcast_row("no elements", randn({1, 3}), {0, 3}),
        broadcast_row("rank six", randn({2, 1, 2, 1, 2}), {3, 2, 2, 2, 2, 2}),
        broadcast_row("bools", booleans({1, 3}), {5, 3}), broadcast_row("bytes", integers({3, 1}, 0, 9, u8), {3, 5}));

OP_TEST(shaped_like, shaped_row(randn({3, 4})), shaped_row(randn({})), shaped_row(randn({0, 3})),
        shaped_row(integers({2, 1, 5}, 0, 9)), shaped_row(booleans({7})));

OP_TEST(broadcast_to, {.label = "row",
                       .inputs = {randn({5})},
                       .build =
                           [](TensorList x) {
                             return TensorList{broadcast_to(x[0], {3, 5})};
                           },
                       .reference =
                           [](const HostTensors& x) {
                             return HostTensors{naive_broadcast(x[0], {3, 5})};
                           },
                       .second_order = true});

OP_TEST(size_of, size_row("all", {3, 4}, {}, 12), size_row("one axis", {3, 4}, {.axes = -1}, 4),
        size_row("floating", {3, 4, 5}, {.axes = {0, 2}, .dtype = f32}, 15),
        size_row("i32", {3, 4}, {.dtype = i32}, 12), size_row("scalar", {}, {}, 1), size_row("nothing", {0, 4}, {}, 0));

OP_TEST(fill, fill_row("floats", {{3, 5}, f32, 1.5}), fill_row("scalar", {{}, f64, -2}),
        fill_row("bools", {{7}, boolean, 1}), fill_row("integers", {{300, 300}, i64, 7}),
        fill_row("none", {{0}, u8, 7}));

OP_REFUSES(sum_to_like, other_sizes,
           [] {
             sum_to_like(placeholder({3, 4}, f32, "g"), placeholder({2, 4}, f32, "x"));
           },
           {"sum_to_like", "[2, 4]", "[3, 4]"})
OP_REFUSES(sum_to_like, larger_rank,
           [] {
             sum_to_like(placeholder({4}, f32, "g"), placeholder({1, 4}, f32, "x"));
           },
           {"sum_to_like", "[1, 4]", "[4]"})
OP_REFUSES(broadcast_like, other_sizes,
           [] {
             broadcast_like(placeholder({3}, f32, "x"), placeholder({2, 4}, f32, "like"));
           },
           {"broadcast_like", "[3]", "[2, 4]"})
OP_REFUSES(shaped_like, other_sizes,
           [] {
             shaped_like(placeholder({3, 1}, f32, "x"), placeholder({3, 4}, f32, "like"));
           },
           {"shaped_like", "[3, 1]", "[3, 4]"})
OP_REFUSES(broadcast_to, unknown_sizes,
           [] {
             broadcast_to(placeholder({3}, f32, "x"), {kUnknown, 3});
           },
           {"broadcast_to", "unknown"})
OP_REFUSES(size_of, sizes_beyond_i32,
           [] {
             size_of(placeholder({int64_t{1} << 31, 4}, f32, "x"), {.dtype = i32});
           },
           {"size_of", "i32", "i64"})
OP_REFUSES(size_of, bool_counts, [] { size_of(placeholder({4}, f32, "x"), {.dtype = boolean}); }, {"size_of", "bool"})
OP_REFUSES(fill, hostile_sizes, [] { zeros({int64_t{1} << 62, 4}); }, {"4611686018427387904"})
OP_REFUSES(fill, fractions_of_integers, [] { fill({{2}, i32, 0.5}); }, {"fill", "0.5", "i32"})

TEST(like, needs_no_node_when_shapes_are_known_to_agree) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 3}, f32, "x"), y = placeholder({4, 3}, f32, "y");
  EXPECT_EQ(sum_to_like(x, x), x);
  EXPECT_EQ(broadcast_like(y, y), y);
  EXPECT_STREQ(size_of(y).op().type(), "constant");
  EXPECT_STREQ(size_of(x).op().type(), "size_of");
}

}  // namespace martello::testing
