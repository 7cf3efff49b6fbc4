#include <martello/data/internal/test_flow.h>

#include <cmath>
#include <limits>
#include <set>

namespace martello::data {
namespace {

using namespace internal;

DataFlowRef shifted(int64_t count, int64_t by) {
  return from_index(count, [by](int64_t i, Rng&) { return Datapoint{i + by}; });
}

TEST(Shuffle, gives_each_datapoint_once_in_an_order_of_its_own_each_pass) {
  const auto flow = count_to(1000).shuffle();
  const auto first = numbers(flow, {1, 0}), second = numbers(flow, {1, 1}), other = numbers(flow, {2, 0});
  EXPECT_EQ(sorted(first), numbers(count_to(1000)));
  EXPECT_NE(first, numbers(count_to(1000)));
  EXPECT_NE(first, second);
  EXPECT_NE(first, other);
  EXPECT_EQ(first, numbers(flow, {1, 0}));
  for (int64_t n : {0, 1, 2, 3, 17}) check_flow(count_to(n).shuffle());
}

TEST(Shuffle, works_behind_maps_filters_and_other_stages_with_random_access) {
  const auto odd = count_to(20).filter([](const Datapoint& dp) { return dp[0].scalar<int64_t>() % 2 == 1; }).shuffle();
  EXPECT_EQ(sorted(numbers(odd)), (std::vector<int64_t>{1, 3, 5, 7, 9, 11, 13, 15, 17, 19}));
  check_flow(odd);
  check_flow(count_to(12).shuffle().shuffle());
  check_flow(concat({count_to(5), shifted(6, 100)}).shuffle());
}

TEST(Shuffle, twice_draws_twice) {
  const auto once = numbers(count_to(50).shuffle()), twice = numbers(count_to(50).shuffle().shuffle());
  EXPECT_NE(once, twice);
  EXPECT_EQ(sorted(twice), numbers(count_to(50)));
}

TEST(Shuffle, refuses_sources_without_random_access_and_says_what_to_do) {
  EXPECT_ERROR(generate_to(5).shuffle()->iterate({}), "use shuffle_locally(buffer)");
  EXPECT_ERROR(count_to(9).batch(3).shuffle()->iterate({}), "needs random access, which from_index(9");
}

TEST(LocalShuffle, gives_each_datapoint_once) {
  for (int64_t buffer : {1, 2, 5, 30, 100}) {
    const auto flow = generate_to(30).shuffle_locally(buffer);
    EXPECT_EQ(sorted(numbers(flow)), numbers(count_to(30)));
    EXPECT_EQ(numbers(flow) == numbers(count_to(30)), buffer == 1);
    check_flow(flow);
    check_flow(count_to(30).shuffle_locally(buffer));
  }
  EXPECT_EQ(count_to(30).shuffle_locally(4).size(), 30);
  EXPECT_ERROR(count_to(30).shuffle_locally(0), "a buffer of 0 datapoints");
}

TEST(LocalShuffle, never_goes_further_ahead_than_its_buffer) {
  const auto all = numbers(count_to(500).shuffle_locally(10));
  for (size_t i = 0; i < all.size(); ++i) EXPECT_LT(all[i], static_cast<int64_t>(i) + 10);
}

TEST(LocalShuffle, saves_where_datapoints_came_from_and_not_their_bytes) {
  const auto flow = from_index(200, [](int64_t i, Rng&) {
                      return Datapoint{HostTensor::full({10000}, f32, static_cast<double>(i))};
                    }).shuffle_locally(50);
  const auto iterator = flow->iterate({});
  read(*iterator, 100);
  EXPECT_LT(save_state(*iterator).size(), 2000u);
}

TEST(Concat, one_after_the_other) {
  const auto flow = concat({count_to(3), generate_to(0), generate_to(2), shifted(2, 10)});
  EXPECT_EQ(numbers(flow), (std::vector<int64_t>{0, 1, 2, 0, 1, 10, 11}));
  EXPECT_FALSE(flow.size());
  EXPECT_EQ(concat({count_to(3), count_to(4)}).size(), 7);
  check_flow(flow);
  check_flow(concat({count_to(3), count_to(4)}));
}

TEST(Join, side_by_side_until_the_shortest_ends) {
  const auto flow = join({count_to(3), shifted(5, 10), generate_to(4)});
  const auto all = all_of(flow);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].size(), 3u);
  EXPECT_EQ(all[2][1].scalar<int64_t>(), 12);
  EXPECT_EQ(join({count_to(3), count_to(5)}).size(), 3);
  check_flow(flow);
}

TEST(Join, merges_keys_and_refuses_twice_the_same) {
  const auto keyed = [](const char* key) {
    return count_to(3).map([key](Datapoint dp) { return Datapoint().set(key, dp[0]); });
  };
  EXPECT_EQ(all_of(join({keyed("a"), keyed("b")}))[0].signature(), "(a i64[], b i64[])");
  EXPECT_ERROR(all_of(join({keyed("a"), keyed("a")})), "the key 'a' of flow 1 stands in a flow before it");
  EXPECT_ERROR(all_of(join({keyed("a"), count_to(2)})), "all must have keys, or none");
}

TEST(Mix, gives_all_of_each_in_its_own_order) {
  const auto flow = mix({count_to(10), shifted(30, 100)});
  const auto all = numbers(flow);
  std::vector<int64_t> low, high;
  for (int64_t v : all) (v < 100 ? low : high).push_back(v);
  EXPECT_EQ(low, numbers(count_to(10)));
  EXPECT_EQ(high, numbers(shifted(30, 100)));
  EXPECT_NE(numbers(flow, {1, 0}), numbers(flow, {1, 1}));
  EXPECT_EQ(flow.size(), 40);
  check_flow(flow);
}

TEST(Mix, needs_sizes_that_are_true) {
  EXPECT_ERROR(mix({count_to(3), generate_to(3)}), "the size of flow 1 (from_generator");
  struct Liar : DataFlow {
    std::optional<int64_t> size() const override { return 9; }
    std::unique_ptr<DataIterator> iterate(Pass pass) const override { return count_to(3)->iterate(std::move(pass)); }
  };
  EXPECT_ERROR(all_of(mix({DataFlowRef(Liar()), count_to(3)})), "before the size it states");
}

TEST(Choose, draws_by_weight_and_ends_with_the_flow_that_was_drawn) {
  const auto flow = choose({{count_to(1000).repeat(), 3}, {shifted(1000, 5000).repeat(), 1}}).take(4000);
  int64_t first = 0;
  for (int64_t v : numbers(flow)) first += v < 5000;
  EXPECT_NEAR(static_cast<double>(first), 3000, 150);
  const auto finite = choose({{count_to(5)}, {shifted(5, 100)}});
  EXPECT_LE(all_of(finite).size(), 10u);
  EXPECT_GE(all_of(finite).size(), 5u);
  check_flow(finite);
  check_flow(choose({{count_to(7).shuffle().repeat(), 0.5}, {generate_to(5).repeat(), 0.5}}).take(30));
}

TEST(Choose, refuses_strange_weights) {
  EXPECT_ERROR(choose({}), "needs one flow or more");
  for (double weight : {0., -1., std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_ERROR(choose({{count_to(3), 1}, {count_to(3), weight}}), "flow 1 has the weight");
}

}  // namespace
}  // namespace martello::data
