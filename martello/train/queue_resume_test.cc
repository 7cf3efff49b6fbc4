// The cursor of an input: what was consumed, and nothing else.
#include <martello/base/state.h>
#include <martello/input/queue_input.h>
#include <martello/input/staging_input.h>
#include <martello/train/internal/test_actor.h>
#include <martello/train/internal/test_input.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;
using Values = std::vector<float>;

Ref<InputSource> input_of(const DataFlowRef& flow, int64_t staged, bool infinite = true) {
  Ref<InputSource> input = QueueInput(flow, {.capacity = 6, .infinite = infinite, .seed = 3});
  if (staged > 0) input = StagingInput(input, staged);
  return input;
}

// What one run of `steps` steps sees, and the state of the input after each of them, from before the first one on.
struct Recorded {
  Values values;
  std::vector<std::string> states;
};
Recorded record(const Ref<InputSource>& input, int64_t steps) {
  Recorded r;
  const Ref<Callback> feeder = input->get_callbacks().at(0);
  Actor actor;
  actor.in_before_train = actor.in_step = [&](Actor&) { r.states.push_back(save_state(*feeder)); };
  r.values = run_on(input, steps, {.callbacks = {std::move(actor)}}).values;
  return r;
}

// What a new run sees after the state is restored before, or in, before_train.
Values resumed(const Ref<InputSource>& input, const std::string& state, int64_t steps, bool in_before_train) {
  const Ref<Callback> feeder = input->get_callbacks().at(0);
  Actor actor;
  const auto restore = [&](Actor&) { restore_state(*feeder, state); };
  (in_before_train ? actor.in_before_train : actor.in_setup) = restore;
  return run_on(input, steps, {.callbacks = {std::move(actor)}}).values;
}

Values from(const Values& v, size_t begin) { return Values(v.begin() + static_cast<std::ptrdiff_t>(begin), v.end()); }

TEST(QueueResume, goes_on_after_the_last_consumed_datapoint_at_every_position) {
  const auto twice = [](Datapoint d, Rng& rng) {
    return Datapoint(d[0].scalar<float>() + static_cast<float>(rng.uniform()));
  };
  const std::vector<DataFlowRef> flows = {numbers(7), numbers(7).shuffle().map(twice),
                                          generated_numbers(9).shuffle_locally(4),
                                          numbers(11).shuffle().parallel_map(twice, {.threads = 3}).prefetch()};
  for (const DataFlowRef& flow : flows)
    for (const int64_t staged : {0, 2}) {
      const Recorded whole = record(input_of(flow, staged), 24);
      ASSERT_EQ(whole.states.size(), 25u);
      for (size_t k = 0; k < 24; k += 3)
        EXPECT_EQ(resumed(input_of(flow, staged), whole.states[k], 24 - static_cast<int64_t>(k), k % 2 == 0),
                  from(whole.values, k))
            << flow.description() << " after " << k << " steps, staged " << staged;
    }
}

TEST(QueueResume, the_end_of_finite_data_stays_where_it_was) {
  const Recorded whole = record(input_of(numbers(10), 2, false), 20);
  EXPECT_EQ(whole.values.size(), 10u);
  EXPECT_EQ(resumed(input_of(numbers(10), 2, false), whole.states[4], 20, true), from(whole.values, 4));
}

TEST(QueueResume, a_datapoint_whose_run_was_not_done_is_not_consumed) {
  const Ref<InputSource> input = input_of(numbers(10), 1);
  const Ref<Callback> feeder = input->get_callbacks().at(0);
  Actor actor;
  actor.in_before_run = [](Actor& a) {
    if (a.see().loop().global_step == 3) throw StopTraining("before the fourth run");
  };
  EXPECT_EQ(run_on(input, 10, {.callbacks = {std::move(actor)}}).values, (Values{0, 1, 2}));
  EXPECT_EQ(resumed(input_of(numbers(10), 1), save_state(*feeder), 3, true), (Values{3, 4, 5}))
      << "the state outlives training";
}

TEST(QueueResume, another_number_of_staged_steps_and_another_capacity_change_nothing) {
  const Recorded whole = record(input_of(numbers(9).shuffle(), 3), 12);
  EXPECT_EQ(resumed(input_of(numbers(9).shuffle(), 0), whole.states[5], 7, true), from(whole.values, 5));
}

TEST(QueueResume, a_new_training_with_the_same_input_begins_at_the_beginning) {
  const Ref<InputSource> input = input_of(numbers(10), 0);
  EXPECT_EQ(run_on(input, 3).values, (Values{0, 1, 2}));
  EXPECT_EQ(run_on(input, 3).values, (Values{0, 1, 2}));
}

TEST(QueueResume, reset_state_takes_the_first_datapoint_again) {
  const Ref<InputSource> input = input_of(numbers(10), 1);
  Actor actor;
  actor.in_step = [&](Actor& a) {
    if (a.see().loop().local_step == 3) input->reset_state();
  };
  EXPECT_EQ(run_on(input, 7, {.callbacks = {std::move(actor)}}).values, (Values{0, 1, 2, 3, 0, 1, 2}));
}

}  // namespace
}  // namespace martello
