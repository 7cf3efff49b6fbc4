#include <martello/data/internal/permutation.h>
#include <martello/data/internal/test_flow.h>

#include <cmath>
#include <set>

namespace martello {
namespace {

using data::internal::Permutation;

TEST(Rng, is_a_function_of_seed_and_stream) {
  Rng a(1, 2), b(1, 2), c(1, 3), d(2, 2);
  for (int i = 0; i < 10; ++i) {
    const uint64_t bits = a.bits();
    EXPECT_EQ(bits, b.bits());
    EXPECT_NE(bits, c.bits());
    EXPECT_NE(bits, d.bits());
  }
}

TEST(Rng, below_is_fair) {
  Rng rng(5);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[static_cast<size_t>(rng.below(7))];
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(rng.below(1), 0);
  EXPECT_LT(rng.below(int64_t{1} << 62), int64_t{1} << 62);
  EXPECT_ERROR(rng.below(0), "below(0)");
  EXPECT_ERROR(rng.below(-3), "below(-3)");
}

TEST(Rng, uniform_and_normal_have_their_moments) {
  Rng rng(6);
  double sum = 0, normal = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = rng.uniform(), n = rng.normal();
    ASSERT_TRUE(0 <= u && u < 1);
    sum += u, normal += n, squares += n * n;
  }
  EXPECT_NEAR(sum / 1e5, 0.5, 0.01);
  EXPECT_NEAR(normal / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.03);
}

TEST(Pass, keys_differ_by_seed_number_and_stage) {
  std::set<uint64_t> keys;
  for (uint64_t seed : {0, 1, 2})
    for (int64_t number : {0, 1, 2})
      for (uint64_t branch : {0, 1, 2}) {
        const Pass pass{seed, number};
        keys.insert(pass.below(branch).key());
        keys.insert(pass.below(branch).below().key());
      }
  EXPECT_EQ(keys.size(), 54u);
}

TEST(Pass, repetitions_differ) {
  std::set<std::pair<uint64_t, int64_t>> finite, endless;
  for (int64_t number : {0, 1, 2})
    for (int64_t i : {0, 1, 2}) {
      const Pass pass{3, number};
      finite.insert({pass.repetition(i, 3).seed, pass.repetition(i, 3).number});
      endless.insert({pass.repetition(i, -1).seed, pass.repetition(i, -1).number});
    }
  EXPECT_EQ(finite.size(), 9u);
  EXPECT_EQ(endless.size(), 9u);
}

TEST(Permutation, is_one_for_every_size) {
  for (int64_t n = 1; n <= 300; ++n) {
    const Permutation permutation(n, 11);
    std::vector<bool> seen(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t to = permutation(i);
      ASSERT_TRUE(0 <= to && to < n && !seen[static_cast<size_t>(to)]) << n;
      seen[static_cast<size_t>(to)] = true;
    }
  }
}

// Chi-square over (index, image) for many keys: no index prefers a place.
TEST(Permutation, every_place_is_as_likely) {
  constexpr int64_t n = 10, keys = 20000;
  std::vector<int> counts(n * n);
  for (uint64_t key = 0; key < keys; ++key) {
    const Permutation permutation(n, key);
    for (int64_t i = 0; i < n; ++i) ++counts[static_cast<size_t>(i * n + permutation(i))];
  }
  double chi = 0;
  constexpr double expected = double(keys) / n;
  for (int count : counts) chi += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi, 140);  // 81 degrees of freedom: 1 in 10,000 is above 133
}

TEST(Permutation, breaks_up_neighbours) {
  const Permutation permutation(100000, 3);
  double distance = 0;
  for (int64_t i = 0; i + 1 < 100000; ++i) distance += std::abs(double(permutation(i + 1) - permutation(i)));
  EXPECT_NEAR(distance / 99999, 100000 / 3., 1000);
}

TEST(Permutation, of_the_largest_counts) {
  const int64_t n = (int64_t{1} << 62) + 12345;
  const Permutation permutation(n, 1);
  std::set<int64_t> seen;
  for (int64_t i = 0; i < 1000; ++i) seen.insert(permutation(i));
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_TRUE(*seen.begin() >= 0 && *seen.rbegin() < n);
}

}  // namespace
}  // namespace martello
