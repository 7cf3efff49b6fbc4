#include <gtest/gtest.h>
#include <martello/base/philox.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/graph/scopes.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/compare.h>
#include <martello/ops/internal/random_loops.h>
#include <martello/ops/random.h>
#include <martello/ops/reduce.h>
#include <martello/ops/shape.h>
#include <martello/runtime/session.h>
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

const std::vector<Shape> kShapes = {Shape(1000, 100), Shape(100, 1001), Shape(40000), Shape(3, 5, 2003),
                                    Shape(20000, 3)};

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
    EXPECT_NEAR(moments(y).mean, p, p == 0 || p == 1 ? 1e-9 : 0.006);
  }
}

TEST(random_integers, are_even) {
  for (DType dtype : {i32, i64}) {
    const auto y =
        draw(op_random_integers, RandomIntegersAttrs{.low = -3, .high = 7, .dtype = dtype, .shape = Shape(100, 1001)});
    std::vector<double> counts(10);
    for (int64_t i = 0; i < y.num_elements(); ++i) counts[static_cast<size_t>(y.at(i) + 3)] += 1;
    double chi = 0;
    for (double c : counts) chi += (c - 10010) * (c - 10010) / 10010;
    EXPECT_LT(chi, 27.9);  // 9 degrees of freedom, one in a thousand
  }
}

TEST(random_integers, take_the_whole_range) {
  const auto y = draw(op_random_integers,
                      RandomIntegersAttrs{.low = INT64_MIN, .high = INT64_MAX, .dtype = i64, .shape = Shape(4000)});
  const auto v = y.data<int64_t>();
  EXPECT_GT(std::count_if(v.begin(), v.end(), [](int64_t x) { return x < 0; }), 1800);
  EXPECT_LT(*std::min_element(v.begin(), v.end()), INT64_MIN / 2);
  const auto odd =
      draw(op_random_integers, RandomIntegersAttrs{.low = 0, .high = 3LL << 61, .dtype = i64, .shape = Shape(30000)});
  const auto w = odd.data<int64_t>();
  EXPECT_NEAR(static_cast<double>(std::count_if(w.begin(), w.end(), [](int64_t x) { return x < 1LL << 61; })), 10000,
              350);
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
    const auto logits =
        HostTensor::of<double>({0, std::log(2.0), std::log(5.0), -1e30, 7, 7, 7, 7}, {2, 4}).cast(dtype);
    const auto y = run_kernel(op_random_categorical, {counter(), logits},
                              Attrs(RandomCategoricalAttrs{.samples = 8001, .key = 5}))[0];
    std::vector<double> counts(8);
    for (int64_t i = 0; i < y.num_elements(); ++i)
      counts[static_cast<size_t>(y.at(i) + 4 * static_cast<double>(i / 8001))] += 1;
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
  for (DType dtype : {i32, i64})
    expect_same_bits_however_cut(op_random_integers, RandomIntegersAttrs{.high = 1000, .dtype = dtype});
}

template <class T>
void expect_same_loop(cpu::RandomLoop<T> cpu::RandomLoops::*loop, int64_t per_block) {
  const cpu::RandomLoops* levels[] = {&cpu::v2::random_loops, &cpu::v3::random_loops, &cpu::v4::random_loops};
  const int64_t rows = 70, row = 61, blocks = rows * ((row + per_block - 1) / per_block);
  std::vector<T> expected;
  for (int level = 0; level <= static_cast<int>(cpu::host_isa()); ++level) {
    std::vector<T> y(static_cast<size_t>(rows * row));
    const cpu::RandomTask task{{7, 8}, 3, 0, 11, row, 0, blocks, 0.25, 3, 3.2};
    (levels[level]->*loop)(task, y.data());
    if (level == 0) expected = y;
    EXPECT_EQ(y, expected) << "level " << level;
  }
}
TEST(random_ops, have_the_same_bits_at_every_level) {
  using Loops = cpu::RandomLoops;
  for (auto loop : {&Loops::uniform_f32, &Loops::normal_f32, &Loops::truncated_f32}) expect_same_loop(loop, 4);
  for (auto loop : {&Loops::uniform_f64, &Loops::normal_f64, &Loops::truncated_f64}) expect_same_loop(loop, 2);
  expect_same_loop(&Loops::bits, 2);
}

TEST(random_ops, are_philox) {
  const auto y = draw(op_random_uniform, RandomUniformAttrs{.shape = Shape(2, 6), .key = 0x0000000800000007},
                      {.params = {.first_sample = 40, .stream = 1}}, counter(0, 9));
  for (uint32_t sample = 0; sample < 2; ++sample)
    for (uint32_t i = 0; i < 6; ++i) {
      const auto block = Philox::block({i / 4, 40 + sample, 9, 1u << 31}, {7, 8});
      EXPECT_EQ(y.at(sample * 6 + i), uniform_f32(block[i % 4]));
    }
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

// Through graph, text and session: every element passes the check that `build` makes of it.
testing::OpCase holds(std::string label, std::function<Tensor(Tensor)> build) {
  return {.label = std::move(label),
          .inputs = {testing::randn({5, 7})},
          .build = [build](TensorList x) { return TensorList{reduce_all(build(x[0]))}; },
          .reference = [](const HostTensors&) { return HostTensors{HostTensor(true)}; },
          .gradient = false};
}
Tensor within(Tensor y, double low, double high) { return logical_and(y >= low, y <= high); }

OP_TEST(random_uniform, holds("shape of a tensor", [](Tensor x) { return within(random_uniform(shape(x)), 0, 1); }),
        holds("one size of a tensor",
              [](Tensor x) {
                return within(random_uniform({shape(x)[0], 3}), 0, 1);
              }),
        holds("f64", [](Tensor) { return within(random_uniform({9}, {.dtype = f64, .low = 2, .high = 3}), 2, 3); }));
OP_TEST(random_normal, holds("shape of a tensor", [](Tensor x) { return within(random_normal(shape(x)), -7, 7); }));
OP_TEST(random_truncated_normal,
        holds("shape of a tensor", [](Tensor x) { return within(random_truncated_normal(shape(x)), -2, 2); }));
OP_TEST(random_bernoulli, holds("certain", [](Tensor x) { return random_bernoulli(shape(x), {.p = 1}); }),
        holds("impossible", [](Tensor x) { return logical_not(random_bernoulli(shape(x), {.p = 0})); }));
OP_TEST(random_integers, holds("i32", [](Tensor x) { return within(random_integers(shape(x), {.high = 4}), 0, 3); }));
OP_TEST(random_permutation,
        holds("of the rows", [](Tensor x) { return equal(reduce_sum(random_permutation(shape(x)[0])), 10); }));
OP_TEST(random_categorical,
        holds("classes", [](Tensor x) { return within(random_categorical(x, {.samples = 9}), 0, 6); }));

TEST(random_shuffle, moves_whole_rows) {
  GraphScope scope;
  const Tensor x = constant(testing::iota({100, 3}, f32)), y = random_shuffle(x);
  Session session(scope.graph());
  const HostTensor first = session.eval(y), second = session.eval(y);
  std::set<double> rows;
  for (int64_t i = 0; i < 100; ++i) {
    rows.insert(first.at(3 * i));
    EXPECT_EQ(first.at(3 * i + 2), first.at(3 * i) + 2);
  }
  EXPECT_EQ(rows.size(), 100u);
  EXPECT_FALSE(first.same_bits(second));
}

TEST(random_ops, differ_from_run_to_run_and_repeat_in_a_new_session) {
  GraphScope scope;
  const Tensor a = random_normal({4, 5}), b = random_normal({4, 5});
  Session one(scope.graph()), two(scope.graph());
  const HostTensors first = one.run({a, b}), second = one.run({a, b}), again = two.run({a, b});
  EXPECT_FALSE(first[0].same_bits(first[1]));
  EXPECT_FALSE(first[0].same_bits(second[0]));
  EXPECT_TRUE(first[0].same_bits(again[0]));
  EXPECT_TRUE(first[1].same_bits(again[1]));
}

OP_REFUSES(random_uniform, empty_range, [] { random_uniform({2}, {.low = 1, .high = 1}); }, {"low 1", "high 1"})
OP_REFUSES(random_uniform, unknown_size, [] { random_uniform({kUnknown, 2}); }, {"every size", "shape(x)"})
OP_REFUSES(random_uniform, integers, [] { random_uniform({2}, {.dtype = i32}); }, {"f32, f64", "i32"})
OP_REFUSES(random_uniform, a_product_that_does_not_fit, [] { random_uniform({int64_t{1} << 62, 4}); }, {"does not fit"})
OP_REFUSES(random_normal, negative_stddev, [] { random_normal({2}, {.stddev = -1}); }, {"stddev -1"})
OP_REFUSES(random_bernoulli, no_probability, [] { random_bernoulli({2}, {.p = 1.5}); }, {"p 1.5", "[0, 1]"})
OP_REFUSES(random_integers, a_range_beyond_i32, [] { random_integers({2}, {.low = 0, .high = int64_t{1} << 40}); },
           {"i32", ".dtype = i64"})
OP_REFUSES(random_permutation, two_sizes, [] { random_permutation({2, 3}); }, {"one size", "[2, 3]"})
OP_REFUSES(random_categorical, no_classes,
           [] {
             random_categorical(placeholder({3, 0}, f32, "x"));
           },
           {"[3, 0]", "class"})

}  // namespace
}  // namespace martello
