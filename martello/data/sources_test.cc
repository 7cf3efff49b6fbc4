#include <martello/data/internal/test_flow.h>

#include <stdexcept>

namespace martello::data {
namespace {

using namespace internal;

struct Squares : IndexedFlow {
  int64_t count() const override { return 20; }
  Datapoint get(int64_t i, Rng& rng) const override { return {float(i * i) + float(rng.uniform()), i % 10}; }
};

struct Counter : DataFlow {
  struct It : DataIterator {
    int64_t i = 0;
    std::optional<Datapoint> next() override {
      if (i == 5) return std::nullopt;
      return Datapoint{i++};
    }
    void state(State& s) override { s("i", i); }
  };
  std::unique_ptr<DataIterator> iterate(Pass) const override { return std::make_unique<It>(); }
};

TEST(Sources, keep_what_every_flow_promises) {
  check_flow(Squares());
  check_flow(Counter());
  check_flow(count_to(17));
  check_flow(generate_to(17));
  check_flow(from_list({Datapoint{1}, Datapoint{2.f}, Datapoint()}));
  check_flow(from_arrays({HostTensor::of<float>({1, 2, 3, 4, 5, 6}, {3, 2}), HostTensor::of<int32_t>({7, 8, 9})}));
  check_flow(fake({{{kUnknown, 3}, f32, "x"}, {{kUnknown}, i32, "y"}}, 9));
  check_flow(fake({{{2, 3}, u8, "x"}}, 9, {.random = false}));
  check_flow(count_to(0));
  check_flow(generate_to(0));
}

TEST(Sources, describe_themselves) {
  EXPECT_TRUE(contains(DataFlowRef(Squares()).description(), "Squares(20)"));
  EXPECT_TRUE(contains(DataFlowRef(Counter()).description(), "Counter"));
  EXPECT_TRUE(contains(count_to(3).description(), "from_index(3, test_flow.h:"));
  EXPECT_EQ(from_list({Datapoint{1}}).description(), "from_list(1)");
  EXPECT_EQ(fake({{{kUnknown, 3}, f32, "x"}}, 9).description(), "fake(f32[3], 9, random=true, low=0, high=1)");
}

TEST(IndexedFlow, random_numbers_belong_to_the_index_and_the_pass) {
  DataFlowRef flow = Squares();
  const List first = all_of(flow, {1, 0}), other_pass = all_of(flow, {1, 1}), other_seed = all_of(flow, {2, 0});
  EXPECT_TRUE(same(first, all_of(flow, {1, 0})));
  EXPECT_FALSE(same(first, other_pass));
  EXPECT_FALSE(same(first, other_seed));
}

TEST(IndexedFlow, iterators_keep_their_flow_alive) {
  std::unique_ptr<DataIterator> iterator;
  {
    const DataFlowRef flow = from_list({Datapoint{1}, Datapoint{2}});
    iterator = flow->iterate({});
  }
  EXPECT_EQ(numbers(read(*iterator)), (std::vector<int64_t>{1, 2}));
}

TEST(IndexedFlow, refuses_a_position_beyond_its_end) {
  const auto longer = count_to(10)->iterate({});
  longer->skip(8);
  EXPECT_ERROR(restore_state(*count_to(5)->iterate({}), save_state(*longer)),
               "position 8 is restored, but the source has 5");
}

TEST(IndexedFlow, refuses_negative_counts_and_no_function) {
  EXPECT_ERROR(from_index(-1, [](int64_t, Rng&) { return Datapoint(); }), "has -1 datapoints");
  EXPECT_ERROR(from_index(3, nullptr), "the function is empty");
  struct Negative : IndexedFlow {
    int64_t count() const override { return -4; }
    Datapoint get(int64_t, Rng&) const override { return {}; }
  };
  EXPECT_ERROR(Negative().iterate({}), "count() is -4");
}

TEST(GeneratorFlow, captures_by_value_live_with_the_iterator) {
  std::unique_ptr<DataIterator> iterator;
  {
    std::vector<int64_t> values = {4, 5, 6};
    iterator = from_generator([values](Pass) -> Generator<Datapoint> {
                 for (int64_t v : values) co_yield {v, float(v)};
               })->iterate({});
  }
  EXPECT_EQ(numbers(read(*iterator)), (std::vector<int64_t>{4, 5, 6}));
}

TEST(GeneratorFlow, an_error_is_sticky_and_names_the_stage_and_the_cause) {
  const auto flow = from_generator([](Pass) -> Generator<Datapoint> {
    co_yield Datapoint{1};
    throw std::runtime_error("the disk is on fire");
  });
  const auto iterator = flow->iterate({});
  EXPECT_TRUE(iterator->next());
  for (int i = 0; i < 3; ++i) {
    EXPECT_ERROR(iterator->next(), "the disk is on fire");
    EXPECT_ERROR(iterator->next(), "in data stage from_generator(sources_test.cc:");
  }
}

TEST(GeneratorFlow, foreign_causes_are_nested_in_a_data_error) {
  const auto flow = from_generator([](Pass) -> Generator<Datapoint> {
    throw std::out_of_range("17");
    co_return;
  });
  try {
    all_of(flow);
    FAIL();
  } catch (const DataError& e) {
    EXPECT_THROW(std::rethrow_if_nested(e), std::out_of_range);
  }
}

TEST(GeneratorFlow, says_that_it_is_restored_by_replay) {
  std::string log;
  const auto iterator = generate_to(9)->iterate({});
  read(*iterator, 6);
  const std::string position = save_state(*iterator);
  logger::set_sink([&](logger::Level, std::string_view line) { log += line; });
  restore_state(*iterator, position);
  logger::set_sink({});
  EXPECT_TRUE(contains(log, "is restored by running 6 datapoints again")) << log;
}

TEST(GeneratorFlow, refuses_a_position_it_no_longer_reaches) {
  const Silence silence;
  const auto longer = generate_to(9)->iterate({});
  read(*longer, 8);
  EXPECT_ERROR(restore_state(*generate_to(5)->iterate({}), save_state(*longer)), "ended after 5 datapoints while 8");
}

TEST(Arrays, refuses_arrays_that_do_not_fit) {
  EXPECT_ERROR(from_arrays({}), "needs one array or more");
  EXPECT_ERROR(from_arrays({HostTensor(1.f)}), "array 0 is a scalar");
  EXPECT_ERROR(from_arrays({HostTensor({3, 2}, f32), HostTensor({4}, i32)}), "array 1 has 4 rows, array 0 has 3");
  EXPECT_TRUE(all_of(from_arrays({HostTensor({0, 2}, f32)})).empty());
}

TEST(Fake, has_the_shapes_and_the_range) {
  const auto flow =
      fake({{{kUnknown, 2, 3}, f32, "x"}, {{4}, f64, "y"}, {{}, boolean, "z"}}, 50, {.low = -1, .high = 3});
  double least = 9, greatest = -9;
  for (const Datapoint& dp : all_of(flow)) {
    EXPECT_EQ(dp.signature(), "(f32[2, 3], f64[4], bool[])");
    for (int64_t i = 0; i < 6; ++i) least = std::min(least, dp[0].at(i)), greatest = std::max(greatest, dp[0].at(i));
  }
  EXPECT_TRUE(-1 <= least && least < -0.9 && 2.9 < greatest && greatest <= 3) << least << " " << greatest;
}

TEST(Fake, refuses_what_it_cannot_make) {
  EXPECT_ERROR(fake({{{2, kUnknown}, f32, "x"}}), "has an unknown dimension besides the first");
  EXPECT_ERROR(fake({}, -1), "has -1 datapoints");
  EXPECT_ERROR(fake({}, 1, {.low = 2, .high = 1}), "values from 2 to 1");
  EXPECT_ERROR(fake({{{}, u8, "x"}}, 1, {.low = -5}), "do not fit into u8");
}

TEST(Flows, refuse_a_handle_that_holds_nothing) {
  const DataFlowRef none;
  EXPECT_ERROR(none.map([](Datapoint dp) { return dp; }), "a DataFlowRef that holds no flow");
  EXPECT_ERROR(none.batch(2), "a DataFlowRef that holds no flow");
  EXPECT_ERROR(none.size(), "a DataFlowRef that holds no flow");
  EXPECT_ERROR(concat({count_to(2), none}), "a DataFlowRef that holds no flow");
  EXPECT_ERROR(concat({}), "needs one flow or more");
}

TEST(Flows, refuse_the_position_of_another_flow) {
  const std::string position = save_state(*count_to(5).batch(2)->iterate({}));
  EXPECT_ERROR(restore_state(*count_to(5)->iterate({}), position), "[state 'index'] was not saved");
  EXPECT_ERROR(restore_state(*count_to(5).batch(2)->iterate({}), "garbage"), "do not begin as a saved state");
}

}  // namespace
}  // namespace martello::data
