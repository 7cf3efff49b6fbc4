#include <martello/models/batch_norm.h>

#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/models/internal/batch_norm_test.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

using namespace internal;

TEST(BatchNorm, internal_updates_run_with_the_output) {
  GraphScope g;
  TowerContext tower("", true);
  const HostTensor x = shifted({4, 3});
  const auto y = batch_norm("bn", constant(x), {.ema_update = EmaUpdate::internal});
  EXPECT_TRUE(updates().empty());
  Session s;
  expect_normalized(s.eval(y), x, naive_stats(x, 3), 1e-5);
  expect_averages(s, naive_stats(x, 3), 0.9);
}

TEST(BatchNorm, skip_updates_nothing) {
  GraphScope g;
  TowerContext tower("", true);
  const auto y = batch_norm("bn", constant(shifted({4, 3})), {.ema_update = EmaUpdate::skip});
  Session s;
  s.eval(y);
  EXPECT_TRUE(updates().empty());
  EXPECT_EQ(s.get("bn/mean/EMA").at(0), 0);
}

TEST(BatchNorm, only_the_main_training_tower_updates) {
  GraphScope g;
  {
    TowerContext tower("tower0", true, {.total = 2});
    batch_norm("bn", constant(shifted({4, 3})));
  }
  EXPECT_EQ(updates().size(), 2u);
  VariableScope shared("", Reuse::yes);
  TowerContext tower("tower1", true, {.index = 1, .total = 2});
  batch_norm("bn", constant(shifted({4, 3})), {.ema_update = EmaUpdate::internal});
  EXPECT_EQ(updates().size(), 2u);
  EXPECT_EQ(g.graph().collections().get(kModelVariables).size(), 2u);
}

TEST(BatchNorm, used_twice_takes_in_both_batches) {
  GraphScope g;
  TowerContext tower("", true);
  const HostTensor a = shifted({4, 3}), b = randn({4, 3}, 9);
  VariableScope shared("", Reuse::automatic);
  batch_norm("bn", constant(a));
  batch_norm("bn", constant(b));
  Session s;
  run_updates(s);
  const double expected = 0.1 * (naive_stats(a, 3).mean[0] + naive_stats(b, 3).mean[0]);
  EXPECT_NEAR(s.get("bn/mean/EMA").at(0), expected, 1e-12);
}

TEST(BatchNorm, virtual_batches_are_normalized_for_themselves) {
  for (const Shape& shape : {Shape(6, 3), Shape(6, 2, 1, 3)}) {
    GraphScope g;
    TowerContext tower("", true);
    const HostTensor x = shifted(shape);
    const auto y = batch_norm("bn", constant(x), {.epsilon = 1e-7, .virtual_batch_size = 2});
    EXPECT_EQ(y.shape(), shape);
    Session s;
    const HostTensor value = s.eval(y);
    const int64_t rows = x.num_elements() / 3 / 3;  // of each of three virtual batches
    for (int64_t group = 0; group < 3; ++group) {
      const Stats stats = naive_stats(x, 3, group * rows, rows);
      for (int64_t i = group * rows * 3; i < (group + 1) * rows * 3; ++i)
        ASSERT_NEAR(value.at(i), normalized(x.at(i), stats, static_cast<size_t>(i % 3), 1e-7), 1e-9) << i;
    }
    run_updates(s);
    expect_averages(s, naive_stats(x, 3, 0, rows), 0.9);
  }
}

TEST(BatchNorm, there_may_be_no_virtual_batch) {
  GraphScope g;
  TowerContext tower("", true);
  std::vector<Fetch> fetches = {batch_norm("bn", placeholder({kUnknown, 3}, f64, "x"), {.virtual_batch_size = 2})};
  for (const Operation& u : updates()) fetches.push_back(u);
  Session s;
  EXPECT_EQ(s.run(fetches, {{"x", HostTensor({0, 3}, f64)}})[0].shape(), Shape(0, 3));
  EXPECT_EQ(s.get("bn/variance/EMA").at(1), 1);
}

TEST(BatchNorm, virtual_batches_keep_channels_first) {
  for (const Shape& shape : {Shape(kUnknown, 3, 4, 5), Shape(kUnknown, 3, kUnknown, kUnknown)}) {
    GraphScope g;
    TowerContext tower("", true);
    const auto y =
        batch_norm("bn", placeholder(shape, f64, "x"), {.data_format = DataFormat::nchw, .virtual_batch_size = 2});
    const HostTensor value = Session().eval(y, {{"x", shifted({4, 3, 4, 5})}});
    for (int64_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (int64_t n = 0; n < 2; ++n)
        for (int64_t p = 0; p < 20; ++p) sum += value.at((n * 3 + c) * 20 + p);
      EXPECT_NEAR(sum, 0, 1e-9);
    }
  }
}

TEST(BatchNorm, synchronised_statistics_of_one_tower_are_its_own) {
  for (DataFormat format : {DataFormat::nhwc, DataFormat::nchw}) {
    GraphScope g;
    TowerContext tower("", true);
    const HostTensor x = shifted(format == DataFormat::nhwc ? Shape(4, 2, 2, 3) : Shape(4, 3, 1, 1));
    const auto y = batch_norm("bn", constant(x), {.epsilon = 1e-7, .data_format = format, .sync_statistics = true});
    EXPECT_TRUE(updates().empty());
    Session s;
    expect_normalized(s.eval(y), x, naive_stats(x, 3), 1e-7);
    expect_averages(s, naive_stats(x, 3), 0.9);
    EXPECT_FALSE(gradients(reduce_sum(square(y)), {y.variables()["gamma"].handle()})[0].is_null());
  }
}

TEST(BatchNorm, synchronised_statistics_are_reduced_together) {
  GraphScope g;
  TowerContext tower("", true);
  batch_norm("bn", constant(shifted({4, 3})), {.sync_statistics = true});
  int reductions = 0;
  for (const Operation& op : g.graph().operations()) reductions += std::string_view(op.type()) == "all_reduce";
  EXPECT_EQ(reductions, 1);  // E[x] and E[x^2] side by side
}

// E[x^2] - E[x]^2 of numbers far from 0 is rounded to less than nothing.
TEST(BatchNorm, synchronised_variances_are_not_negative) {
  GraphScope g;
  TowerContext tower("", true);
  HostTensor x({64, 8}, f32);
  for (int64_t i = 0; i < x.num_elements(); ++i)
    x.set(i, 3000 + 700 * static_cast<double>(i % 8) + 0.01 * std::sin(static_cast<double>(i)));
  const auto y = batch_norm("bn", constant(x), {.sync_statistics = true});
  Session s;
  const HostTensor value = s.eval(y);
  for (int64_t i = 0; i < value.num_elements(); ++i) ASSERT_TRUE(std::isfinite(value.at(i))) << i;
  for (int64_t c = 0; c < 8; ++c) EXPECT_GE(s.get("bn/variance/EMA").at(c), 0.9 - 1e-6);
}

// There are no moments of nothing, and the averages of a run are not spoiled by a batch without samples.
TEST(BatchNorm, an_empty_batch_leaves_the_averages_alone) {
  for (const Shape& sample : {Shape(3), Shape(4, 4, 3)})
    for (const EmaUpdate update : {EmaUpdate::collection, EmaUpdate::internal})
      for (const int64_t batch : {kUnknown, int64_t{0}}) {
        GraphScope g;
        TowerContext tower("", true);
        Shape shape(batch), fed(0);
        for (int i = 0; i < sample.rank(); ++i) shape.push_back(sample[i]), fed.push_back(sample[i]);
        const Tensor x = placeholder(shape, f32, "x");
        std::vector<Fetch> fetches = {batch_norm("bn", x, {.ema_update = update})};
        for (const Operation& u : updates()) fetches.push_back(u);
        Session s;
        s.run(fetches, {{x, HostTensor(fed, f32)}});
        for (int64_t c = 0; c < 3; ++c) {
          EXPECT_EQ(s.get("bn/mean/EMA").at(c), 0) << shape.str();
          EXPECT_EQ(s.get("bn/variance/EMA").at(c), 1) << shape.str();
        }
      }
}

OP_REFUSES(batch_norm, statistics_of_several_towers,
           [] {
             TowerContext tower("tower1", true, {.variable_scope = "tower1", .index = 1, .total = 2});
             batch_norm("bn", constant(shifted({4, 3})), {.sync_statistics = true});
           },
           {"[batch_norm 'tower1/bn']", "sync_statistics", "2 towers", "communicator"})

}  // namespace
}  // namespace martello::testing
