#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/internal/naive_index.h>
#include <martello/ops/pool.h>
#include <martello/runtime/session.h>
#include <martello/testing/grad_check.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

constexpr DataFormat kNchw = DataFormat::nchw;

HostTensor run_one(const HostTensor& x, const std::function<Tensor(Tensor)>& f) {
  GraphScope scope;
  const Tensor y = f(placeholder(x.shape(), x.dtype(), "x"));
  return Session(Graph::current()).run(y, {{"x", x}})[0];
}

}  // namespace

TEST(global_avg_pool, is_the_mean_of_an_image) {
  const HostTensor x = randn({2, 3, 4, 5});
  const HostTensor last = run_one(x, [](Tensor t) { return global_avg_pool(t); });
  ASSERT_EQ(last.shape(), Shape(2, 5));
  double sum = 0;
  for (int64_t i = 0; i < 12; ++i) sum += x.at(60 + i * 5 + 2);
  EXPECT_NEAR(last.at(7), sum / 12, 1e-12);
  const HostTensor first = run_one(x, [](Tensor t) { return global_avg_pool(t, kNchw); });
  ASSERT_EQ(first.shape(), Shape(2, 3));
  sum = 0;
  for (int64_t i = 0; i < 20; ++i) sum += x.at(20 + i);
  EXPECT_NEAR(first.at(1), sum / 20, 1e-12);
}

TEST(unpool, multiplies_each_pixel_with_the_matrix) {
  const HostTensor x = randn({2, 3, 2, 2}), m = HostTensor::of<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const HostTensor y = run_one(x, [&](Tensor t) { return unpool(t, constant(m)); });
  ASSERT_EQ(y.shape(), Shape(2, 6, 6, 2));
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const Index o = index_of(y.shape(), i);
    const double expected = at(x, {o[0], o[1] / 2, o[2] / 3, o[3]}) * at(m, {o[1] % 2, o[2] % 3});
    ASSERT_EQ(y.at(i), expected) << i;
  }
}

TEST(unpool, keeps_the_top_left_without_a_matrix) {
  const HostTensor x = randn({1, 2, 3, 3});
  const HostTensor y = run_one(x, [](Tensor t) { return unpool(t, Size2(2, 3), kNchw); });
  ASSERT_EQ(y.shape(), Shape(1, 2, 6, 9));
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const Index o = index_of(y.shape(), i);
    const bool is_kept = o[2] % 2 == 0 && o[3] % 3 == 0;
    ASSERT_EQ(y.at(i), is_kept ? at(x, {o[0], o[1], o[2] / 2, o[3] / 3}) : 0) << i;
  }
}

TEST(unpool, has_gradients) {
  check_gradients(
      [](TensorList in) {
        return TensorList{unpool(in[0], in[1]), global_avg_pool(in[0])};
      },
      {randn({2, 2, 3, 2}), randn({2, 3}, 2)});
}

OP_REFUSES(unpool, a_vector,
           [] {
             unpool(placeholder({1, 2, 2, 3}, f32, "x"), placeholder({3}, f32, "m"));
           },
           {"unpool", "[3]", "rank 2"})
OP_REFUSES(global_avg_pool, a_matrix,
           [] {
             global_avg_pool(placeholder({2, 3}, f32, "x"));
           },
           {"global_avg_pool", "[2, 3]", "rank 4"})

}  // namespace martello::testing
