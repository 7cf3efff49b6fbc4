#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/graph/scopes.h>
#include <martello/ops/boolean_mask.h>
#include <martello/ops/gather.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/internal/test_images.h>
#include <martello/ops/reduce.h>
#include <martello/ops/where_indices.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensors naive_where(const HostTensors& in) {
  std::vector<int64_t> found;
  for (int64_t i = 0; i < in[0].num_elements(); ++i)
    if (in[0].at(i) != 0)
      for (const int64_t place : index_of(in[0].shape(), i)) found.push_back(place);
  const int64_t rank = in[0].shape().rank(), rows = static_cast<int64_t>(found.size()) / rank;
  HostTensor y({rows, rank}, i64);
  std::copy(found.begin(), found.end(), y.mutable_data<int64_t>().begin());
  return {y};
}

OpCase row(std::string label, HostTensor condition) {
  return {.label = std::move(label),
          .inputs = {std::move(condition)},
          .build = [](TensorList x) { return TensorList{where_indices(x[0])}; },
          .reference = naive_where,
          .gradient = false};
}

OP_TEST(where_indices, row("vector", booleans({37})), row("matrix", booleans({5, 7})), row("cube", booleans({3, 4, 5})),
        row("rank 6", booleans({2, 1, 3, 2, 2, 3})), row("none", HostTensor({2, 3}, boolean)),
        row("all", HostTensor::full({2, 3}, boolean, 1)), row("nothing", HostTensor({0, 3}, boolean)),
        row("empty rows", HostTensor({3, 0}, boolean)), row("many", booleans({300, 9})));

const OpTestRows image_rows_of_bools("where_indices", __FILE__, __LINE__,
                                     image_rows<uint64_t>({1, 2},
                                                          [](std::string label, const HostTensor& x, uint64_t seed) {
                                                            return row(std::move(label), booleans(x.shape(), seed));
                                                          }));

// The elements at the places are those that a mask takes.
TEST(where_indices, name_what_boolean_mask_takes) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 5}, f32, "x"), chosen = x > 0;
  const Tensor a = gather_nd(x, where_indices(chosen)), b = boolean_mask(x, chosen);
  Session session(scope.graph());
  const HostTensors out = session.run({a, b}, {{x, randn({6, 5}).cast(f32)}});
  EXPECT_GT(out[0].num_elements(), 5);
  EXPECT_TRUE(out[0].same_bits(out[1]));
}

OP_REFUSES(where_indices, numbers, [] { where_indices(placeholder({3}, f32, "x")); }, {"bool", "f32[3]"})
OP_REFUSES(where_indices, scalars, [] { where_indices(placeholder({}, boolean, "x")); }, {"scalar"})

}  // namespace
}  // namespace martello::testing
