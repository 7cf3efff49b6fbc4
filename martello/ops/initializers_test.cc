#include <gtest/gtest.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/initializers.h>
#include <martello/runtime/session.h>

#include <cmath>

namespace martello {
namespace {

HostTensor initial(const Initializer& init, Shape shape, DType dtype = f32, const std::string& name = "v") {
  GraphScope scope;
  const Variable v =
      get_variable(name, {.shape = std::move(shape), .dtype = dtype, .initializer = init, .trainable = false});
  return Session(scope.graph()).get(v);
}

double stddev_of(const HostTensor& t) {
  double sum = 0;
  for (int64_t i = 0; i < t.num_elements(); ++i) sum += t.at(i) * t.at(i);
  return std::sqrt(sum / static_cast<double>(t.num_elements()));
}
double largest(const HostTensor& t) {
  double most = 0;
  for (int64_t i = 0; i < t.num_elements(); ++i) most = std::max(most, std::abs(t.at(i)));
  return most;
}

TEST(initializers, constants_fill_every_dtype) {
  for (DType dtype : {f32, f64, i32, i64, u8}) {
    EXPECT_EQ(initial(zeros(), {3}, dtype).at(2), 0);
    EXPECT_EQ(initial(ones(), {3}, dtype).at(2), 1);
    EXPECT_EQ(initial(constant_init(7), {3}, dtype).at(2), 7);
  }
  EXPECT_EQ(initial(constant_init(HostTensor::of<float>({1, 2, 3})), {3}).at(1), 2);
}

TEST(initializers, refuse_a_value_of_another_shape) {
  EXPECT_THROW(initial(constant_init(HostTensor::of<float>({1, 2})), {3}), InvalidArgument);
  EXPECT_THROW(variance_scaling({.scale = 0}), InvalidArgument);
}

TEST(initializers, random_ones_have_the_asked_spread) {
  for (DType dtype : {f32, f64}) {
    EXPECT_NEAR(stddev_of(initial(random_normal_init(0.02), {300, 300}, dtype)), 0.02, 2e-4);
    EXPECT_NEAR(stddev_of(initial(truncated_normal(0.02), {300, 300}, dtype)), 0.02 * 0.8796, 2e-4);
    EXPECT_LE(largest(initial(truncated_normal(0.02), {300, 300}, dtype)), 0.04 + 1e-9);
    EXPECT_NEAR(stddev_of(initial(uniform_init(-3, 3), {300, 300}, dtype)), std::sqrt(3.0), 0.02);
  }
}

TEST(initializers, scale_with_fans) {
  EXPECT_NEAR(stddev_of(initial(glorot_uniform(), {200, 400})), std::sqrt(2.0 / 600), 1e-3);
  EXPECT_LE(largest(initial(glorot_uniform(), {200, 400})), std::sqrt(6.0 / 600));
  EXPECT_NEAR(stddev_of(initial(he_normal(), {3, 3, 64, 128})), std::sqrt(2.0 / (9 * 64)), 1e-3);
  const auto cut = variance_scaling({2, FanMode::fan_out, InitDistribution::truncated_normal});
  EXPECT_NEAR(stddev_of(initial(cut, {3, 3, 64, 128})), std::sqrt(2.0 / (9 * 128)), 1e-3);
}

TEST(initializers, know_fans) {
  EXPECT_EQ(fans_of({3, 5}).in, 3);
  EXPECT_EQ(fans_of({3, 5}).out, 5);
  EXPECT_EQ(fans_of({3, 3, 8, 16}).in, 72);
  EXPECT_EQ(fans_of({3, 3, 8, 16}).out, 144);
  EXPECT_EQ(fans_of({7}).in, 7);
  EXPECT_EQ(fans_of({}).in, 1);
}

TEST(initializers, depend_on_seed_and_variable_name_only) {
  const HostTensor a = initial(he_normal(), {4, 4});
  EXPECT_TRUE(a.same_bits(initial(he_normal(), {4, 4})));
  EXPECT_FALSE(a.same_bits(initial(he_normal(), {4, 4}, f32, "w")));
}

}  // namespace
}  // namespace martello
