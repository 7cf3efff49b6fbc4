#include <martello/data/internal/test_flow.h>

#include <limits>
#include <set>

namespace martello::data {
namespace {

using namespace internal;

const DataFlowRef kTen = count_to(10);

Datapoint doubled(Datapoint dp) {
  dp[0] = dp[0].scalar<int64_t>() * 2;
  return dp;
}

TEST(Map, applies_the_function_and_keeps_order_and_size) {
  const auto flow = kTen.map(doubled);
  EXPECT_EQ(numbers(flow), (std::vector<int64_t>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}));
  EXPECT_EQ(flow.size(), 10);
  check_flow(flow);
}

TEST(Map, drops_what_it_returns_nothing_for_and_then_has_no_size) {
  const auto flow = kTen.map([](Datapoint dp) -> std::optional<Datapoint> {
    if (dp[0].scalar<int64_t>() % 3 != 0) return std::nullopt;
    return dp;
  });
  EXPECT_EQ(numbers(flow), (std::vector<int64_t>{0, 3, 6, 9}));
  EXPECT_FALSE(flow.size());
  check_flow(flow);
}

TEST(Map, random_numbers_are_keyed_by_stage_pass_and_ordinal) {
  const auto add = [](Datapoint dp, Rng& rng) { return Datapoint{dp[0].scalar<int64_t>() * 1000 + rng.below(1000)}; };
  const auto once = kTen.map(add);
  check_flow(once);
  EXPECT_EQ(numbers(once, {1, 2}), numbers(once, {1, 2}));
  EXPECT_NE(numbers(once, {1, 2}), numbers(once, {1, 3}));
  const auto both = join({once, once});
  for (const Datapoint& dp : all_of(both)) EXPECT_NE(dp[0].scalar<int64_t>(), dp[1].scalar<int64_t>());
  EXPECT_EQ(numbers(once), numbers(once.prefetch().batch(1).cache())) << "stages without random numbers change none";
}

TEST(Map, refuses_empty_functions) {
  std::function<Datapoint(Datapoint)> none;
  Datapoint (*null)(Datapoint) = nullptr;
  EXPECT_ERROR(kTen.map(none), "] the function is empty");
  EXPECT_ERROR(kTen.map(null), "[map (stages_test.cc:");
  EXPECT_ERROR(kTen.map({}), "the function is empty");
  EXPECT_ERROR(kTen.filter(nullptr), "[filter (stages_test.cc:");
  EXPECT_ERROR(kTen.map_component(0, nullptr), "[map_component (stages_test.cc:");
  EXPECT_ERROR(kTen.parallel_map(none), "[parallel_map (stages_test.cc:");
}

TEST(Map, an_error_names_the_stage_keeps_its_type_and_is_sticky) {
  const auto flow = kTen.map(
                            [](Datapoint dp) {
                              MARTELLO_CHECK(dp[0].scalar<int64_t>() != 2, "[decode] 2 is bad.");
                              return dp;
                            },
                            {.name = "decode"})
                        .batch(1)
                        .repeat(2);
  const auto iterator = flow->iterate({});
  EXPECT_EQ(read(*iterator, 2).size(), 2u);
  for (int i = 0; i < 3; ++i) EXPECT_THROW(iterator->next(), InvalidArgument);
  const std::string text = error_of([&] { iterator->next(); });
  EXPECT_TRUE(contains(text, "[decode] 2 is bad.\n  in data stage map 'decode' (stages_test.cc:")) << text;
  EXPECT_FALSE(contains(text, "stage batch")) << text;
}

TEST(Map, foreign_exceptions_reach_the_consumer) {
  const auto flow = kTen.map([](const Datapoint&) -> Datapoint { throw 42; });
  EXPECT_ERROR(all_of(flow), "no std::exception");
}

TEST(MapComponent, by_index_and_by_key) {
  const auto negate = [](HostTensor t) { return HostTensor(-t.scalar<int64_t>()); };
  EXPECT_EQ(numbers(kTen.map_component(0, negate))[3], -3);
  const auto keyed = kTen.map([](Datapoint dp) { return Datapoint().set("x", dp[0]); });
  EXPECT_EQ(numbers(keyed.map_component("x", negate))[3], -3);
  EXPECT_ERROR(all_of(kTen.map_component(3, negate)), "component 3 of a datapoint with 1");
  EXPECT_ERROR(all_of(keyed.map_component("y", negate)), "no component has this key");
  check_flow(keyed.map_component("x", negate));
}

TEST(Select, by_index_and_by_key) {
  const auto flow = kTen.map([](Datapoint dp) { return Datapoint{dp[0], 1.f, true}; });
  EXPECT_EQ(all_of(flow.select({2, 0}))[4].signature(), "(bool[], i64[])");
  const auto keyed = kTen.map([](Datapoint dp) { return Datapoint().set("a", dp[0]).set("b", 1.f); });
  EXPECT_EQ(all_of(keyed.select({"b"}))[0].signature(), "(b f32[])");
  EXPECT_EQ(all_of(keyed.select({1}))[0].signature(), "(b f32[])");
  EXPECT_ERROR(all_of(flow.select({3})), "component 3 of a datapoint with 3");
  EXPECT_ERROR(all_of(flow.select({-1})), "component -1 of a datapoint with 3");
  EXPECT_ERROR(kTen.select({}), "selects no component");
  check_flow(flow.select({2, 0}));
}

TEST(Filter, keeps_what_passes) {
  const auto flow = kTen.filter([](const Datapoint& dp) { return dp[0].scalar<int64_t>() > 6; });
  EXPECT_EQ(numbers(flow), (std::vector<int64_t>{7, 8, 9}));
  check_flow(flow);
}

TEST(Filter, that_drops_everything_gives_an_empty_flow_and_repeat_refuses_it) {
  const auto nothing = kTen.filter([](const Datapoint&) { return false; });
  EXPECT_TRUE(all_of(nothing).empty());
  check_flow(nothing);
  EXPECT_ERROR(all_of(nothing.repeat()), "gave no datapoint: repeating it would never end");
  EXPECT_ERROR(all_of(nothing.fixed_size(3)), "gave no datapoint");
  EXPECT_TRUE(all_of(nothing.batch(2)).empty());
}

struct RunningSum {
  int64_t sum = 0;
  Datapoint operator()(Datapoint dp) { return Datapoint{sum += dp[0].scalar<int64_t>()}; }
  void state(State& s) { s("sum", sum); }
};

TEST(StatefulMap, has_its_state_in_the_position_and_starts_afresh_each_pass) {
  const auto flow = kTen.stateful_map(RunningSum());
  EXPECT_EQ(numbers(flow), (std::vector<int64_t>{0, 1, 3, 6, 10, 15, 21, 28, 36, 45}));
  EXPECT_EQ(numbers(flow.repeat(2))[10], 0);
  check_flow(flow);
  check_flow(flow.repeat(2));
}

TEST(Batch, stacks_and_drops_the_remainder_unless_asked) {
  const auto batches = all_of(kTen.batch(4));
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_TRUE(batches[1][0].same_bits(HostTensor::of<int64_t>({4, 5, 6, 7})));
  const auto with_rest = all_of(kTen.batch(4, {.remainder = true}));
  ASSERT_EQ(with_rest.size(), 3u);
  EXPECT_TRUE(with_rest[2][0].same_bits(HostTensor::of<int64_t>({8, 9})));
  for (int64_t n : {1, 2, 3, 4, 10})
    check_flow(kTen.batch(n)), check_flow(generate_to(11).batch(n, {.remainder = true}));
}

TEST(Batch, keeps_keys_shapes_and_dtypes) {
  const auto flow = kTen.map([](const Datapoint&) {
    return Datapoint().set("a", HostTensor({2, 3}, u8)).set("b", 1.5);
  });
  EXPECT_EQ(all_of(flow.batch(5))[0].signature(), "(a u8[5, 2, 3], b f64[5])");
  EXPECT_EQ(all_of(fake({}, 4).batch(2)).size(), 2u);
  EXPECT_EQ(all_of(fake({{{0, 3}, f32, "x"}}, 4).batch(2))[0].signature(), "(f32[2, 0, 3])");
}

// Rows of arrays are gathered, datapoints behind another stage are stacked.
TEST(Batch, gathers_rows_into_what_it_would_have_stacked) {
  HostTensor pairs({11, 2}, f32), bytes({11}, u8), nothing({11, 0}, i64);
  for (int64_t i = 0; i < 22; ++i) pairs.set(i, 0.5 * static_cast<double>(i));
  for (int64_t i = 0; i < 11; ++i) bytes.set(i, static_cast<double>(i));
  const auto arrays = from_arrays({pairs, bytes, nothing});
  for (const DataFlowRef& rows : {arrays, arrays.shuffle(), arrays.shuffle().shuffle()})
    for (const int64_t n : {1, 3, 4, 11, 12}) {
      const auto gathered = rows.batch(n, {.remainder = true}), stacked = rows.prefetch().batch(n, {.remainder = true});
      EXPECT_TRUE(same(all_of(gathered, {7, 2}), all_of(stacked, {7, 2})));
      check_flow(gathered);
    }
  EXPECT_EQ(all_of(arrays.batch(4)).size(), 2u);
  check_flow(arrays.shuffle().batch(4));
}

TEST(Batch, refuses_ragged_input_with_the_shapes) {
  const auto ragged = kTen.map([](Datapoint dp) {
    return Datapoint{HostTensor({2, dp[0].scalar<int64_t>() / 3}, f32)};
  });
  EXPECT_ERROR(all_of(ragged.batch(5)),
               "component 0 of datapoint 3 of the batch is f32[2, 1], that of datapoint 0 is f32[2, 0]");
  const auto dtypes = from_list({Datapoint{1}, Datapoint{2.f}});
  EXPECT_ERROR(all_of(dtypes.batch(2)), "is f32[], that of datapoint 0 is i32[]");
  const auto counts = from_list({Datapoint{1}, Datapoint{1, 2}});
  EXPECT_ERROR(all_of(counts.batch(2)), "datapoint 1 of the batch is (i32[], i32[]), datapoint 0 is (i32[])");
  const auto keys = from_list({Datapoint().set("a", 1), Datapoint().set("b", 1)});
  EXPECT_ERROR(all_of(keys.batch(2)), "is (b i32[]), datapoint 0 is (a i32[])");
}

TEST(Batch, refuses_sizes_that_give_nothing) {
  EXPECT_ERROR(kTen.batch(0), "a batch of 0 datapoints");
  EXPECT_ERROR(kTen.batch(-2), "a batch of -2 datapoints");
  EXPECT_ERROR(kTen.batch(11), "batches of 11 from 10 datapoints: there would be none");
  EXPECT_EQ(kTen.batch(11, {.remainder = true}).size(), 1);
  EXPECT_EQ(all_of(generate_to(3).batch(std::numeric_limits<int64_t>::max(), {.remainder = true})).size(), 1u);
}

TEST(Repeat, makes_new_passes) {
  const auto flow = kTen.shuffle().repeat(3);
  const auto all = numbers(flow);
  EXPECT_EQ(flow.size(), 30);
  ASSERT_EQ(all.size(), 30u);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(sorted({all.begin() + i * 10, all.begin() + i * 10 + 10}), numbers(kTen));
  EXPECT_NE(std::vector<int64_t>(all.begin(), all.begin() + 10),
            std::vector<int64_t>(all.begin() + 10, all.begin() + 20));
  check_flow(flow);
  check_flow(generate_to(4).repeat(3));
  check_flow(kTen.shuffle().repeat().take(35));
}

TEST(Repeat, refuses_empty_flows_and_strange_counts) {
  EXPECT_ERROR(count_to(0).repeat(), "is empty: repeating it would never end");
  EXPECT_ERROR(all_of(generate_to(0).repeat()), "gave no datapoint");
  EXPECT_ERROR(kTen.repeat(0), "0 times");
  EXPECT_ERROR(kTen.repeat(-2), "-2 times");
  EXPECT_ERROR(kTen.repeat(std::numeric_limits<int64_t>::max()), "does not fit");
}

TEST(Take, stops_early) {
  EXPECT_EQ(numbers(kTen.take(3)), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(kTen.take(30).size(), 10);
  EXPECT_ERROR(kTen.take(0), "takes 0 datapoints");
  EXPECT_ERROR(kTen.take(-1), "takes -1 datapoints");
  check_flow(kTen.take(4));
  check_flow(kTen.take(14));
  check_flow(kTen.take(6).shuffle());
}

TEST(FixedSize, goes_on_where_the_last_pass_stopped_or_begins_again) {
  for (const DataFlowRef& source : {count_to(5), generate_to(5)}) {
    const auto keep = source.fixed_size(3), fresh = source.fixed_size(3, {.keep_state = false});
    EXPECT_EQ(numbers(keep, {0, 0}), (std::vector<int64_t>{0, 1, 2}));
    EXPECT_EQ(numbers(keep, {0, 1}), (std::vector<int64_t>{3, 4, 0}));
    EXPECT_EQ(numbers(keep, {0, 2}), (std::vector<int64_t>{1, 2, 3}));
    EXPECT_EQ(numbers(fresh, {0, 1}), (std::vector<int64_t>{0, 1, 2}));
    check_flow(keep);
    check_flow(fresh);
    check_flow(source.fixed_size(12));
  }
  EXPECT_ERROR(kTen.fixed_size(0), "has 0 datapoints");
  EXPECT_ERROR(count_to(0).fixed_size(2), "is empty");
}

TEST(FixedSize, a_late_pass_of_an_indexed_source_costs_nothing) {
  const auto flow = count_to(1000).fixed_size(7);
  EXPECT_EQ(numbers(flow, {0, int64_t{1} << 50})[0], (7 * (int64_t{1} << 50)) % 1000);
}

TEST(Shard, shards_together_are_the_whole) {
  for (const DataFlowRef& source : {kTen, generate_to(10), kTen.shuffle()}) {
    for (int64_t count : {1, 2, 3, 7, 12}) {
      std::vector<int64_t> all;
      for (int64_t i = 0; i < count; ++i) {
        const auto shard = source.shard(i, count);
        const auto part = numbers(shard);
        all.insert(all.end(), part.begin(), part.end());
        check_flow(shard);
      }
      EXPECT_EQ(sorted(all), numbers(kTen)) << count;
    }
  }
  EXPECT_EQ(numbers(kTen.shard(1, 4)), (std::vector<int64_t>{1, 5, 9}));
  check_flow(kTen.shard(1, 3).shuffle());
  EXPECT_ERROR(kTen.shard(3, 3), "shard 3 of 3");
  EXPECT_ERROR(kTen.shard(-1, 3), "shard -1 of 3");
  EXPECT_ERROR(kTen.shard(0, 0), "shard 0 of 0");
}

TEST(Cache, reads_its_source_once_and_gives_pass_0_always) {
  int calls = 0;
  const auto flow = kTen.map([&](Datapoint dp, Rng& rng) {
                          ++calls;
                          return Datapoint{dp[0].scalar<int64_t>() * 100 + rng.below(100)};
                        })
                        .cache();
  const auto first = numbers(flow, {1, 0});
  EXPECT_EQ(numbers(flow, {1, 5}), first);
  EXPECT_EQ(calls, 10);
  EXPECT_NE(numbers(flow, {2, 0}), first) << "another seed has a store of its own";
}

TEST(Cache, a_pass_that_is_left_early_truncates_nothing) {
  const auto flow = generate_to(9).cache();
  read(*flow->iterate({}), 3);
  EXPECT_EQ(numbers(flow).size(), 9u);
  check_flow(flow);
  check_flow(flow.shuffle());
  check_flow(kTen.cache().shuffle().map(doubled));
}

TEST(Cache, a_map_never_corrupts_a_cached_sample) {
  const auto flow = kTen.cache().map_component(0, [](HostTensor t) {
    t.mutable_data<int64_t>()[0] += 1000;
    return t;
  });
  const auto first = numbers(flow);
  EXPECT_EQ(numbers(flow), first);
  EXPECT_EQ(first[0], 1000);
}

TEST(Print, logs_the_first_datapoints_only) {
  std::vector<std::string> lines;
  logger::set_sink([&](logger::Level, std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(numbers(kTen.print({.count = 2, .name = "after decode"})).size(), 10u);
  logger::set_sink({});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(contains(lines[1], "print 'after decode'") && contains(lines[1], "datapoint 1: (i64[] = 1)")) << lines[1];
  EXPECT_ERROR(kTen.print({.count = 0}), "prints 0 datapoints");
  check_flow(kTen.print({.count = 3}));
}

TEST(Description, shows_types_and_options_but_not_what_changes_nothing) {
  const auto flow = from_list({Datapoint{1}, Datapoint{2}}).shuffle().repeat(3).batch(2, {.remainder = true});
  EXPECT_EQ(flow.description(), "from_list(2).shuffle().repeat(3).batch(2, remainder=true)");
  EXPECT_EQ(flow.prefetch().print().description(), flow.description());
  const auto map = from_list({}).map(doubled, {.name = "double", .version = "2"}).description();
  EXPECT_TRUE(contains(map, "from_list(0).map(\"double\", version=\"2\", stages_test.cc:")) << map;
  EXPECT_EQ(concat({from_list({}), fake({}, 1)}).description(),
            "concat(from_list(0), fake(1, random=true, low=0, high=1))");
}

TEST(Skip, refuses_to_go_back) {
  EXPECT_ERROR(kTen->iterate({})->skip(-1), "skip(-1)");
  EXPECT_ERROR(kTen.batch(2)->iterate({})->skip(-1), "skip(-1)");
}

}  // namespace
}  // namespace martello::data
