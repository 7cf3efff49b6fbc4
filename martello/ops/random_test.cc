#include <gtest/gtest.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/graph/scopes.h>
#include <martello/ops/random.h>
#include <martello/testing/op_test.h>
#include <martello/testing/run_kernel.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace martello {
namespace {

using testing::run_kernel;

HostTensor counter(int64_t hooked = 0, int64_t plain = 0) { return HostTensor::of<int64_t>({hooked, plain}); }

template <class A>
HostTensor draw(const OpDef& def, A attrs, testing::KernelOptions options = {}, HostTensor count = counter()) {
  if (attrs.key == 0) attrs.key = 0x1234567890abcdef;
  return run_kernel(def, {count}, Attrs(attrs), options)[0];
}

std::vector<double> sorted(const HostTensor& t) {
  std::vector<double> v;
  for (int64_t i = 0; i < t.num_elements(); ++i) v.push_back(t.at(i));
  std::sort(v.begin(), v.end());
  return v;
}

// Kolmogorov and Smirnov: the largest distance between the two distribution functions, times sqrt(n). Above 1.95 in one
// of a thousand true samples.
template <class F>
double ks_distance(const HostTensor& t, F cdf) {
  const auto v = sorted(t);
  const double n = static_cast<double>(v.size());
  double worst = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    const double f = cdf(v[i]), at = static_cast<double>(i);
    worst = std::max({worst, f - at / n, (at + 1) / n - f});
  }
  return worst * std::sqrt(n);
}

struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(const HostTensor& t) {
  Moments m;
  const double n = static_cast<double>(t.num_elements());
  for (int64_t i = 0; i < t.num_elements(); ++i) m.mean += t.at(i) / n;
  for (int64_t i = 0; i < t.num_elements(); ++i) m.variance += (t.at(i) - m.mean) * (t.at(i) - m.mean) / n;
  return m;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

const std::vector<Shape> kShapes = {Shape(1000, 100), Shape(100, 1001), Shape(40000), Shape(3, 5, 2003), Shape(20000, 3)};

TEST(random_uniform, is_even) {
  for (DType dtype : {f32, f64})
    for (const Shape& shape : kShapes) {
      const auto y = draw(op_random_uniform, RandomUniformAttrs{.dtype = dtype, .low = -2, .high = 6, .shape = shape});
      EXPECT_LT(ks_distance(y, [](double x) { return (x + 2) / 8; }), 1.95) << shape.str();
      EXPECT_NEAR(moments(y).mean, 2, 0.05);
      EXPECT_NEAR(moments(y).variance, 64.0 / 12, 0.1);
      EXPECT_GE(sorted(y).front(), -2);
      EXPECT_LT(sorted(y).back(), 6);
    }
}

TEST(random_uniform, never_reaches_high_by_rounding) {
  const auto y = draw(op_random_uniform, RandomUniformAttrs{.low = 16777216, .high = 16777218, .shape = Shape(10000)});
  EXPECT_EQ(sorted(y).back(), 16777216);
}

TEST(random_normal, is_normal) {
  for (DType dtype : {f32, f64})
    for (const Shape& shape : kShapes) {
      const auto y = draw(op_random_normal, RandomNormalAttrs{.dtype = dtype, .mean = 1, .stddev = 3, .shape = shape});
      EXPECT_LT(ks_distance(y, [](double x) { return normal_cdf((x - 1) / 3); }), 1.95) << shape.str();
      EXPECT_NEAR(moments(y).mean, 1, 0.08);
      EXPECT_NEAR(moments(y).variance, 9, 0.3);
    }
}

TEST(random_normal, has_tails) {
  const auto v = sorted(draw(op_random_normal, RandomNormalAttrs{.shape = Shape(1000, 4000)}));
  EXPECT_LT(v.front(), -4.5);
  EXPECT_GT(v.back(), 4.5);
  EXPECT_LT(std::max(-v.front(), v.back()), 6);
}

TEST(random_truncated_normal, is_a_cut_normal) {
  const double below = normal_cdf(-2), inside = 1 - 2 * below;
  for (DType dtype : {f32, f64})
    for (const Shape& shape : kShapes) {
      const auto y =
          draw(op_random_truncated_normal, RandomNormalAttrs{.dtype = dtype, .mean = 0, .stddev = 0.5, .shape = shape});
      EXPECT_LT(ks_distance(y, [&](double x) { return (normal_cdf(x / 0.5) - below) / inside; }), 1.95) << shape.str();
      EXPECT_NEAR(moments(y).variance, 0.25 * 0.8796256610342398 * 0.8796256610342398, 0.005);
      EXPECT_GE(sorted(y).front(), -1);
      EXPECT_LE(sorted(y).back(), 1);
    }
}

// The distribution function of the value, which is the uniform number it came from, must be even to the last digits.
TEST(random_truncated_normal, inverts_accurately) {
  const auto y64 = draw(op_random_truncated_normal, RandomNormalAttrs{.dtype = f64, .shape = Shape(512)});
  const auto u64 = draw(op_random_uniform, RandomUniformAttrs{.dtype = f64, .shape = Shape(512)});
  const double reach = std::erf(std::sqrt(2.0));
  for (int64_t i = 0; i < 512; ++i) {
    const double t = (2 * (u64.at(i) + 0x1p-53) - 1) * reach;
    EXPECT_NEAR(std::erf(y64.at(i) / std::sqrt(2.0)), t, 1e-14);
  }
}

TEST(random_bernoulli, is_true_with_probability_p) {
  for (double p : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    const auto y = draw(op_random_bernoulli, RandomBernoulliAttrs{.p = p, .shape = Shape(100, 1001)});
    EXPECT_NEAR(moments(y).mean, p, p == 0 || p == 1 ? 0 : 0.006);
  }
}

TEST(random_integers, are_even) {
  for (DType dtype : {i32, i64}) {
    const auto y = draw(op_random_integers, RandomIntegersAttrs{.low = -3, .high = 7, .dtype = dtype, .shape = Shape(100, 1001)});
    std::vector<double> counts(10);
    for (int64_t i = 0; i < y.num_elements(); ++i) counts[static_cast<size_t>(y.at(i) + 3)] += 1;
    double chi = 0;
    for (double c : counts) chi += (c - 10010) * (c - 10010) / 10010;
    EXPECT_LT(chi, 27.9);  // 9 degrees of freedom, one in a thousand
  }
}

TEST(random_integers, take_the_whole_range) {
  const auto y = draw(op_random_integers, RandomIntegersAttrs{.low = INT64_MIN, .high = INT64_MAX, .dtype = i64, .shape = Shape(4000)});
  const auto v = y.data<int64_t>();
  EXPECT_GT(std::count_if(v.begin(), v.end(), [](int64_t x) { return x < 0; }), 1800);
  EXPECT_LT(*std::min_element(v.begin(), v.end()), INT64_MIN / 2);
  const auto odd = draw(op_random_integers, RandomIntegersAttrs{.low = 0, .high = 3LL << 61, .dtype = i64, .shape = Shape(30000)});
  const auto w = odd.data<int64_t>();
  EXPECT_NEAR(static_cast<double>(std::count_if(w.begin(), w.end(), [](int64_t x) { return x < 1LL << 61; })), 10000, 350);
}

TEST(random_permutation, is_one_and_all_are_likely) {
  std::vector<int> counts(6);
  for (int64_t run = 0; run < 6000; ++run) {
    const auto y = draw(op_random_permutation, RandomPermutationAttrs{.shape = Shape(3)}, {}, counter(run));
    const auto v = y.data<int64_t>();
    ASSERT_EQ(v[0] + v[1] + v[2], 3);
    ASSERT_NE(v[0], v[1]);
    counts[static_cast<size_t>(v[0] * 2 + (v[1] > v[2]))] += 1;
  }
  for (int c : counts) EXPECT_NEAR(c, 1000, 120);
  const auto large = sorted(draw(op_random_permutation, RandomPermutationAttrs{.shape = Shape(10007)}));
  for (size_t i = 0; i < large.size(); ++i) ASSERT_EQ(large[i], static_cast<double>(i));
}

TEST(random_categorical, follows_softmax) {
  for (DType dtype : {f32, f64}) {
    const auto logits = HostTensor::of<double>({0, std::log(2.0), std::log(5.0), -1e30, 7, 7, 7, 7}, {2, 4}).cast(dtype);
    const auto y = run_kernel(op_random_categorical, {counter(), logits}, Attrs(RandomCategoricalAttrs{.samples = 8001, .key = 5}))[0];
    std::vector<double> counts(8);
    for (int64_t i = 0; i < y.num_elements(); ++i) counts[static_cast<size_t>(y.at(i) + 4 * static_cast<double>(i / 8001))] += 1;
    const double expected[] = {1000, 2000, 5000, 0, 2000, 2000, 2000, 2000};
    for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(counts[i], expected[i], expected[i] == 0 ? 0 : 160);
  }
}

// Every op with the same numbers however the work is cut.
template <class A>
void expect_same_bits_however_cut(const OpDef& def, A attrs) {
  attrs.shape = Shape(3000, 13);
  const auto whole = draw(def, attrs);
  for (int threads : {2, 4}) EXPECT_TRUE(whole.same_bits(draw(def, attrs, {.threads = threads}))) << def.name;
  attrs.shape = Shape(1000, 13);
  for (int64_t part = 0; part < 3; ++part) {
    const auto third = draw(def, attrs, {.threads = 2, .params = {.first_sample = part * 1000}});
    for (int64_t i = 0; i < third.num_elements(); ++i)
      ASSERT_EQ(third.at(i), whole.at(part * 13000 + i)) << def.name << " part " << part << " element " << i;
  }
}

TEST(random_ops, give_the_same_bits_however_work_is_cut) {
  for (DType dtype : {f32, f64}) {
    expect_same_bits_however_cut(op_random_uniform, RandomUniformAttrs{.dtype = dtype});
    expect_same_bits_however_cut(op_random_normal, RandomNormalAttrs{.dtype = dtype});
    expect_same_bits_however_cut(op_random_truncated_normal, RandomNormalAttrs{.dtype = dtype});
  }
  expect_same_bits_however_cut(op_random_bernoulli, RandomBernoulliAttrs{});
  for (DType dtype : {i32, i64}) expect_same_bits_however_cut(op_random_integers, RandomIntegersAttrs{.high = 1000, .dtype = dtype});
}

TEST(random_ops, never_repeat_over_runs_streams_samples_and_keys) {
  std::set<std::vector<double>> seen;
  int draws = 0;
  const auto add = [&](const HostTensor& t) {
    for (int64_t row = 0; row < 4; ++row, ++draws) {
      std::vector<double> v;
      for (int64_t i = 0; i < 4; ++i) v.push_back(t.at(row * 4 + i));
      seen.insert(v);
    }
  };
  const RandomUniformAttrs attrs{.shape = Shape(4, 4)};
  for (int64_t run = 0; run < 50; ++run) {
    add(draw(op_random_uniform, attrs, {}, counter(run, run)));
    add(draw(op_random_uniform, attrs, {.params = {.stream = 1}}, counter(run, run)));
    add(draw(op_random_uniform, attrs, {.params = {.first_sample = 4 + 4 * run}}));
    RandomUniformAttrs other = attrs;
    other.key = 77 + run;
    add(draw(op_random_uniform, other));
  }
  add(draw(op_random_uniform, attrs, {}, counter(int64_t{1} << 32)));
  add(draw(op_random_uniform, attrs, {.params = {.first_sample = int64_t{1} << 32}}));
  EXPECT_EQ(seen.size(), static_cast<size_t>(draws));
}

TEST(random_ops, neighbours_are_not_correlated) {
  const auto y = draw(op_random_normal, RandomNormalAttrs{.shape = Shape(1000, 100)});
  for (int64_t lag : {1, 2, 3, 4, 100, 400}) {
    double sum = 0;
    for (int64_t i = 0; i + lag < 100000; ++i) sum += y.at(i) * y.at(i + lag);
    EXPECT_LT(std::abs(sum) / std::sqrt(100000.0), 4) << "lag " << lag;
  }
}

TEST(random_ops, take_empty_and_scalar_shapes) {
  for (const Shape& shape : {Shape(0), Shape(0, 4), Shape(4, 0), Shape()}) {
    EXPECT_EQ(draw(op_random_uniform, RandomUniformAttrs{.shape = shape}).shape(), shape);
    EXPECT_EQ(draw(op_random_normal, RandomNormalAttrs{.dtype = f64, .shape = shape}).shape(), shape);
    EXPECT_EQ(draw(op_random_integers, RandomIntegersAttrs{.shape = shape}).shape(), shape);
  }
}

TEST(random_key, ignores_the_tower_prefix_only) {
  EXPECT_EQ(random_key(1, "tower0/drop/u"), random_key(1, "tower12/drop/u"));
  EXPECT_EQ(random_key(1, "tower0/drop/u"), random_key(1, "drop/u"));
  EXPECT_NE(random_key(1, "tower/drop"), random_key(1, "drop"));
  EXPECT_NE(random_key(1, "towers1/drop"), random_key(1, "drop"));
  EXPECT_NE(random_key(1, "a"), random_key(1, "b"));
  EXPECT_NE(random_key(1, "a"), random_key(2, "a"));
}

TEST(random_ops, have_a_key_each) {
  GraphScope scope;
  const Tensor a = random_uniform({2, 3}), b = random_uniform({2, 3});
  EXPECT_NE(a.name(), b.name());
  EXPECT_NE(a.node()->attrs.get<RandomUniformAttrs>().key, b.node()->attrs.get<RandomUniformAttrs>().key);
}

OP_REFUSES(random_uniform, empty_range, [] { random_uniform({2}, {.low = 1, .high = 1}); }, {"low 1", "high 1"})
OP_REFUSES(random_uniform, unknown_size, [] { random_uniform({kUnknown, 2}); }, {"every size", "shape(x)"})
OP_REFUSES(random_uniform, integers, [] { random_uniform({2}, {.dtype = i32}); }, {"f32, f64", "i32"})
OP_REFUSES(random_uniform, a_product_that_does_not_fit, [] { random_uniform({int64_t{1} << 62, 4}); }, {"random_uniform"})
OP_REFUSES(random_normal, negative_stddev, [] { random_normal({2}, {.stddev = -1}); }, {"stddev -1"})
OP_REFUSES(random_bernoulli, no_probability, [] { random_bernoulli({2}, {.p = 1.5}); }, {"p 1.5", "[0, 1]"})
OP_REFUSES(random_integers, a_range_beyond_i32, [] { random_integers({2}, {.low = 0, .high = int64_t{1} << 40}); },
           {"i32", ".dtype = i64"})
OP_REFUSES(random_permutation, two_sizes, [] { random_permutation({2, 3}); }, {"one size", "[2, 3]"})
OP_REFUSES(random_categorical, no_classes, [] { random_categorical(placeholder({3, 0}, f32, "x")); }, {"[3, 0]", "class"})

}  // namespace
}  // namespace martello
