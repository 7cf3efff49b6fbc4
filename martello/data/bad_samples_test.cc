#include <martello/data/internal/test_flow.h>

#include <stdexcept>

namespace martello::data {
namespace {

using namespace internal;

Datapoint picky(Datapoint dp) {
  const auto v = dp[0].scalar<int64_t>();
  if (v % 10 == 3) throw std::runtime_error(str("file ", v, " is truncated"));
  return dp;
}

std::vector<int64_t> good(int64_t count) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < count; ++i)
    if (i % 10 != 3) result.push_back(i);
  return result;
}

// The same policy in the three places that have it.
std::vector<DataFlowRef> flows(int64_t count, const BadSamples& bad) {
  return {count_to(count).map(picky, {.bad_samples = bad}), generate_to(count).map(picky, {.bad_samples = bad}),
          count_to(count).parallel_map(picky, {.threads = 3, .bad_samples = bad}),
          count_to(count).map(picky).on_bad_sample(bad)};
}

TEST(BadSamples, stop_is_the_default) {
  for (const DataFlowRef& flow : flows(20, {})) EXPECT_ERROR(all_of(flow), "file 3 is truncated");
}

TEST(BadSamples, skip_goes_on_and_lists_each_once) {
  const Silence silence;
  const auto list = std::make_shared<BadSampleList>();
  for (const DataFlowRef& flow : flows(40, {.action = OnBadSample::skip, .most = 0.2, .list = list})) {
    EXPECT_EQ(numbers(flow), good(40)) << flow.description();
    check_flow(flow);
  }
  const auto samples = list->samples();
  ASSERT_EQ(samples.size(), 8u);  // four in data pass 0, four in data pass 1 of check_flow
  EXPECT_EQ(samples[1].ordinal, 13);
  EXPECT_EQ(samples[1].pass, 0);
  EXPECT_EQ(samples[7].pass, 1);
  EXPECT_TRUE(contains(samples[1].cause, "file 13 is truncated")) << samples[1].cause;
}

TEST(BadSamples, skipping_flows_have_no_size_and_replacing_ones_keep_it) {
  for (const DataFlowRef& flow : flows(40, {.action = OnBadSample::skip})) EXPECT_FALSE(flow.size());
  const BadSamples replace{.action = OnBadSample::replace, .replacement = Datapoint{int64_t{-1}}};
  EXPECT_EQ(flows(40, replace)[0].size(), 40);
}

TEST(BadSamples, replace_puts_another_in_its_place) {
  const Silence silence;
  for (const DataFlowRef& flow :
       flows(40, {.action = OnBadSample::replace, .most = 0.2, .replacement = Datapoint{int64_t{-1}}})) {
    const auto all = numbers(flow);
    ASSERT_EQ(all.size(), 40u) << flow.description();
    EXPECT_EQ(all[13], -1);
    EXPECT_EQ(all[14], 14);
    check_flow(flow);
  }
}

TEST(BadSamples, the_cap_turns_skip_into_stop_also_after_a_resume) {
  const Silence silence;
  for (const DataFlowRef& flow : flows(100, {.action = OnBadSample::skip, .most = 0.05})) {
    const auto iterator = flow->iterate({});
    read(*iterator, 8);  // one bad one so far
    const auto restored = flow->iterate({});
    restore_state(*restored, save_state(*iterator));
    const std::string text = error_of([&] { read(*restored); });
    EXPECT_TRUE(contains(text, "are bad") && contains(text, "bad_samples.most = 0.05")) << flow.description() << text;
    EXPECT_EQ(error_of([&] { read(*iterator); }), text);
  }
}

TEST(BadSamples, works_under_shuffle) {
  const Silence silence;
  const auto flow = count_to(50).map(picky, {.bad_samples = {.action = OnBadSample::skip, .most = 0.2}}).shuffle();
  EXPECT_EQ(sorted(numbers(flow)), good(50));
  check_flow(flow);
}

TEST(BadSamples, refuses_strange_options) {
  const auto ten = count_to(10);
  EXPECT_ERROR(ten.map(picky, {.bad_samples = {.action = OnBadSample::replace}}), "bad_samples.replacement is empty");
  EXPECT_ERROR(ten.map(picky, {.bad_samples = {.action = OnBadSample::skip, .most = 1.5}}), "bad_samples.most is 1.5");
  EXPECT_ERROR(ten.on_bad_sample({.most = -1}), "bad_samples.most is -1");
  EXPECT_ERROR(generate_to(5).on_bad_sample({.action = OnBadSample::skip})->iterate({}),
               "after an error it could not go on");
}

}  // namespace
}  // namespace martello::data
