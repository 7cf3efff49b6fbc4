#include <martello/graph/core_ops.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/tile.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensor naive_tile(const HostTensor& x, const std::vector<int64_t>& counts) {
  Shape y;
  for (int i = 0; i < x.shape().rank(); ++i) y.push_back(x.shape()[i] * counts[static_cast<size_t>(i)]);
  return tabulate(y, x.dtype(), [&](Index i) {
    for (size_t d = 0; d < i.size(); ++d) i[d] %= x.shape()[static_cast<int>(d)];
    return at(x, i);
  });
}

OpCase tile_case(std::string label, const HostTensor& x, std::vector<int64_t> counts) {
  return {.label = std::move(label),
          .inputs = {x},
          .build = [counts](TensorList in) { return TensorList{tile(in[0], counts)}; },
          .reference = [counts](const HostTensors& in) { return HostTensors{naive_tile(in[0], counts)}; },
          .second_order = is_floating(x.dtype())};
}

OP_TEST(tile, tile_case("both axes", randn({2, 3}), {3, 2}), tile_case("rows only", randn({2, 3}), {4, 1}),
        tile_case("columns only", randn({2, 3}), {1, 4}), tile_case("a column", randn({3, 1}), {1, 37}),
        tile_case("once", randn({2, 3}), {1, 1}), tile_case("never", randn({2, 3}), {0, 1}),
        tile_case("empty", randn({0, 3}), {2, 2}), tile_case("scalar", randn({}), {}),
        tile_case("rank 6", randn({1, 2, 1, 2, 1, 2}), {2, 1, 3, 2, 1, 2}),
        tile_case("integers", integers({2, 2}, 0, 9, i64), {2, 3}), tile_case("bytes", integers({5}, 0, 9, u8), {3}));

OP_REFUSES(tile, too_few_counts, [] { tile(placeholder({2, 3}, f32, "x"), {2}); }, {"[2]", "f32[2, 3]"})
OP_REFUSES(tile, negative_count, [] { tile(placeholder({2}, f32, "x"), {-1}); }, {"[-1]", "negative"})
OP_REFUSES(tile, too_large, [] { tile(placeholder({int64_t{1} << 62}, f32, "x"), {int64_t{1} << 62}); }, {})

}  // namespace
}  // namespace martello::testing
