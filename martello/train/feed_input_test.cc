// FeedInput as trainers use it.
#include <martello/base/internal/test_text.h>
#include <martello/data/sources.h>
#include <martello/input/feed_input.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::kLineSignature;
using testing::line_cost;

HostTensor value(int64_t i) { return HostTensor::full({2}, f32, static_cast<double>(i)); }

// Trains on a flow and gives the end; `steps` steps in one epoch.
TrainEnd train_on(DataFlowRef flow, int64_t steps, FeedInputOptions options = {}, int64_t* done = nullptr) {
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, FeedInput(std::move(flow), options), line_cost,
                      [] { return GradientDescent(0.01); });
  TrainEnd end = trainer.train({.steps_per_epoch = steps, .max_epoch = 1});
  if (done) *done = trainer.loop().global_step;
  return end;
}

DataFlowRef pairs(int64_t n) {
  return data::from_index(n, [](int64_t i, Rng&) { return Datapoint(value(i), value(2 * i)); });
}

TEST(FeedInput, goes_on_with_the_next_data_pass) {
  int64_t done = 0;
  EXPECT_EQ(train_on(pairs(3), 10, {}, &done).reason, TrainEnd::finished);
  EXPECT_EQ(done, 10);
}

TEST(FeedInput, the_end_of_a_finite_one_stops_training) {
  int64_t done = 0;
  const TrainEnd end = train_on(pairs(3), 10, {.infinite = false}, &done);
  EXPECT_EQ(end.reason, TrainEnd::stopped);
  EXPECT_CONTAINS(end.message, "at its end");
  EXPECT_EQ(done, 3);
}

TEST(FeedInput, components_may_have_keys) {
  const auto flow = data::from_index(
      4, [](int64_t i, Rng&) { return Datapoint().set("y", value(2 * i)).set("unused", value(0)).set("x", value(i)); });
  EXPECT_EQ(train_on(flow, 4).reason, TrainEnd::finished);
}

TEST(FeedInput, a_datapoint_that_does_not_fit_fails_the_run) {
  const TrainEnd few = train_on(data::from_index(4, [](int64_t i, Rng&) { return Datapoint(value(i)); }), 2);
  EXPECT_EQ(few.reason, TrainEnd::failed);
  for (const char* part : {"1 components", "2 inputs", "before_run of callback 'FeedInput'"})
    EXPECT_CONTAINS(few.message, part);
  const TrainEnd kind =
      train_on(data::from_index(4, [](int64_t, Rng&) { return Datapoint(HostTensor({2}, i32), value(0)); }), 2);
  EXPECT_EQ(kind.reason, TrainEnd::failed);
  for (const char* part : {"[feed 'x']", "f32[?]", "i32[2]"}) EXPECT_CONTAINS(kind.message, part);
}

TEST(FeedInput, an_error_of_the_flow_fails_the_run) {
  const auto flow = pairs(8).map([](Datapoint d) {
    if (d[0].at(0) == 2) throw InvalidArgument("[decode] broken file.");
    return d;
  });
  int64_t done = 0;
  const TrainEnd end = train_on(flow, 10, {}, &done);
  EXPECT_EQ(end.reason, TrainEnd::failed);
  EXPECT_CONTAINS(end.message, "[decode] broken file.");
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace martello
