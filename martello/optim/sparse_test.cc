// Gradients that touch some rows of a table only.
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/gather.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

struct Model {
  GraphScope graph;
  Tensor ids = placeholder({kUnknown}, i32, "ids");
  Variable table = get_variable("table", {.shape = {50, 8}, .initializer = random_normal_init()});
  Variable w = get_variable("w", {.shape = {8}, .initializer = ones()});
  Tensor rows = gather(table, ids);
  Tensor loss = reduce_sum(square(rows * w));
};

bool has_op(const Graph& graph, std::string_view type) {
  for (const Operation& op : graph.operations())
    if (op.type() == type) return true;
  return false;
}

// The table after five steps with repeated ids.
HostTensor train(const std::function<Operation(Model&)>& minimize, bool is_sparse) {
  Model m;
  const Operation step = minimize(m);
  EXPECT_EQ(has_op(m.graph.graph(), "sparse_optimizer_update"), is_sparse);
  Session s;
  for (int t = 0; t < 5; ++t) s.run(step, {{m.ids, HostTensor::of<int32_t>({3, 7 + t, 3, 49, 7, 3})}});
  return s.get(m.table);
}

// The same with a gradient that has lost its rows.
Operation apply_dense(Optimizer& optimizer, Model& m) {
  GradVars grads = optimizer.compute_gradients(m.loss, {m.table, m.w});
  for (GradVar& gv : grads) gv.grad = gv.grad * 1.0;
  return optimizer.apply_gradients(grads);
}

TEST(SparseUpdate, gradient_descent_on_rows_gives_the_bits_of_the_dense_one) {
  const HostTensor sparse = train([](Model& m) { return GradientDescent(0.01).minimize(m.loss); }, true);
  GradientDescent dense(0.01);
  EXPECT_TRUE(sparse.same_bits(train([&](Model& m) { return apply_dense(dense, m); }, false)));
}

TEST(SparseUpdate, adagrad_on_rows_gives_the_bits_of_the_dense_one) {
  const HostTensor sparse = train([](Model& m) { return Adagrad(0.1).minimize(m.loss); }, true);
  Adagrad dense(0.1);
  EXPECT_TRUE(sparse.same_bits(train([&](Model& m) { return apply_dense(dense, m); }, false)));
}

TEST(SparseUpdate, others_are_dense_unless_lazy) {
  const HostTensor dense = train([](Model& m) { return Adam(0.1).minimize(m.loss); }, false);
  const HostTensor lazy = train([](Model& m) { return Adam(0.1, {.lazy = true}).minimize(m.loss); }, true);
  EXPECT_FALSE(dense.same_bits(lazy));
  for (int64_t i = 0; i < 8; ++i) EXPECT_NEAR(lazy.at(3 * 8 + i), dense.at(3 * 8 + i), 1e-5);  // in every step
  train([](Model& m) { return Momentum(0.1).minimize(m.loss); }, false);
  train([](Model& m) { return Momentum(0.1, {.lazy = true}).minimize(m.loss); }, true);
}

TEST(SparseUpdate, lazy_rows_without_gradient_stay) {
  Model m;
  const Operation step = Adam(0.1, {.lazy = true}).minimize(m.loss);
  Session s;
  s.run(step, {{m.ids, HostTensor::of<int32_t>({5})}});
  const HostTensor before = s.get(m.table), slot = s.get("table/Adam");
  s.run(step, {{m.ids, HostTensor::of<int32_t>({6, 6})}});
  const HostTensor after = s.get(m.table);
  EXPECT_EQ(after.at(5 * 8), before.at(5 * 8));
  EXPECT_EQ(s.get("table/Adam").at(5 * 8), slot.at(5 * 8));
  EXPECT_NE(after.at(6 * 8), before.at(6 * 8));
}

}  // namespace
}  // namespace martello
