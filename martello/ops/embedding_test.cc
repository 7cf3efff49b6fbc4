#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/embedding.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensors naive_lookup(const HostTensors& in) {
  const int64_t width = in[0].shape().num_elements(1, in[0].shape().rank());
  Shape shape = in[1].shape();
  for (int i = 1; i < in[0].shape().rank(); ++i) shape.push_back(in[0].shape()[i]);
  HostTensor y(shape, in[0].dtype());
  for (int64_t i = 0; i < y.num_elements(); ++i)
    y.set(i, in[0].at(static_cast<int64_t>(in[1].at(i / width)) * width + i % width));
  return {y};
}

TEST(embedding_lookup, takes_rows_and_sums_gradients_of_repeated_ids) {
  for (const HostTensor& ids : {integers({2, 9}, 0, 5), integers({4}, 0, 5, i64), integers({}, 0, 5),
                                integers({0}, 0, 5), HostTensor::full({7}, i32, 3)})
    for (const Shape& table : {Shape(5, 3), Shape(Shape(5)), Shape(5, 2, 4), Shape(5, 1), Shape(5, 17)})
      run_op_case("embedding_lookup",
                  {.label = ids.shape().str(),
                   .inputs = {randn(table), ids},
                   .build = [](TensorList x) { return TensorList{square(embedding_lookup(x[0], x[1]))}; },
                   .reference =
                       [](const HostTensors& in) {
                         const HostTensors rows = naive_lookup(in);
                         return HostTensors{map_elements(
                             rows, [](const auto& v) { return v[0] * v[0]; }, f64)};
                       },
                   .second_order = true});
}

// Also of a table that is read twice.
TEST(embedding_lookup, has_a_sparse_gradient) {
  GraphScope scope;
  const Tensor table = placeholder({6, 2}, f64, "table"), a = placeholder({2, 2}, i32, "a"),
               b = placeholder({3}, i64, "b");
  const Tensor loss = reduce_sum(embedding_lookup(table, a)) + reduce_sum(3 * embedding_lookup(table, b));
  const Tensor gradient = gradients({loss}, {table})[0];
  const auto sparse = find_row_sparse(gradient);
  ASSERT_TRUE(sparse);
  EXPECT_EQ(sparse->values.shape(), Shape(7, 2));
  EXPECT_EQ(sparse->shape, Shape(6, 2));
  const HostTensor dense = Session(scope.graph())
                               .eval(gradient, {{table, randn({6, 2})},
                                                {a, HostTensor::of<int32_t>({0, 1, 1, 1}, {2, 2})},
                                                {b, HostTensor::of<int64_t>({1, 5, 5})}});
  const double expected[] = {1, 6, 0, 0, 0, 6};
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(dense.at(i), expected[i / 2]) << i;
}

TEST(embedding_lookup, names_the_id_that_is_out_of_range) {
  GraphScope scope;
  const Tensor ids = placeholder({4}, i32, "ids");
  const Tensor y = embedding_lookup(constant(randn({5, 2})), ids, "words");
  Session session(scope.graph());
  for (const int32_t bad : {5, -1}) {
    try {
      session.eval(y, {{ids, HostTensor::of<int32_t>({0, 4, bad, bad})}});
      FAIL() << "took id " << bad;
    } catch (const InvalidArgument& e) {
      const std::string text = e.what();
      for (const std::string& part :
           {std::string("words"), std::string("[2] is ") + std::to_string(bad), std::string("[0, 5)")})
        EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

}  // namespace

OP_REFUSES(embedding_lookup, floating_ids,
           [] {
             embedding_lookup(placeholder({5, 2}, f32, "table"), placeholder({3}, f32, "ids"));
           },
           {"embedding_lookup", "f32[3]"})
OP_REFUSES(embedding_lookup, a_scalar_table,
           [] { embedding_lookup(placeholder({}, f32, "table"), placeholder({3}, i32, "ids")); }, {"embedding_lookup"})

}  // namespace martello::testing
