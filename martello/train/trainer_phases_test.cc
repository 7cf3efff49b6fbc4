// What happens between the phases of training: stops, commits, errors.
#include <martello/base/internal/test_text.h>
#include <martello/loop/commit_point.h>
#include <martello/testing/recording_callback.h>
#include <martello/train/internal/test_actor.h>

#include <gtest/gtest.h>

#include <stdexcept>

namespace martello {
namespace {

using testing::Actor;
using testing::Counting;
using testing::error_of;
using testing::Events;
using testing::RecordingCallback;

TEST(Trainer, a_requested_stop_ends_after_the_step) {
  for (const int64_t step : {1, 2}) {
    SCOPED_TRACE(step);
    const auto events = make<Events>();
    Actor actor;
    actor.in_after_run = [=](Actor& a) {
      if (a.see().loop().local_step == step) a.run->request_stop();
    };
    Counting trainer;
    const TrainEnd end = trainer.train(
        {.callbacks = {std::move(actor), RecordingCallback("A", events)}, .steps_per_epoch = 3, .max_epoch = 2});
    EXPECT_EQ(end.reason, TrainEnd::stopped);
    EXPECT_EQ(events->back(), step == 1 ? "A.after_train e1 s1 g2" : "A.after_train e1 s2 g3");
    const std::string before_last = (*events)[events->size() - 2];
    EXPECT_EQ(before_last, step == 1 ? "A.trigger_step e1 s1 g2" : "A.trigger e1 s2 g3")
        << "an epoch that is complete gets its callbacks";
  }
}

TEST(Trainer, commits_when_all_callbacks_have_had_their_turn) {
  const auto events = make<Events>();
  Actor saver;
  saver.in_trigger = [=](Actor& a) {
    a.see().commit_point().request("saver", [=](const CommitPoint::Commit& c) {
      events->push_back(
          str("commit ", join(c.tags), " ", c.position.phase, " ", c.position.epoch_num, " ", c.position.steps_done));
    });
  };
  saver.in_step = [saver_trigger = saver.in_trigger](Actor& a) {
    if (a.see().loop().local_step == 0) saver_trigger(a);
  };
  Actor best;
  best.in_trigger = [=](Actor& a) {
    events->push_back("best");
    a.see().commit_point().tag("min-error");
  };
  Counting trainer;
  EXPECT_EQ(
      trainer.train({.callbacks = {std::move(saver), std::move(best)}, .steps_per_epoch = 2, .max_epoch = 1}).reason,
      TrainEnd::finished);
  EXPECT_EQ(*events, (Events{"commit  trigger_step 1 1", "best", "commit min-error trigger_epoch 1 2"}));
}

TEST(Trainer, what_a_failed_phase_asked_for_is_not_written) {
  Actor saver, bad;
  saver.in_trigger = [](Actor& a) { a.see().commit_point().request("saver", [](const auto&) { FAIL(); }); };
  bad.in_trigger = [](Actor&) { throw InvalidArgument("[bad] broken."); };
  Counting trainer;
  const TrainEnd end =
      trainer.train({.callbacks = {std::move(saver), std::move(bad)}, .steps_per_epoch = 1, .max_epoch = 1});
  EXPECT_EQ(end.reason, TrainEnd::failed);
  EXPECT_EQ(static_cast<int>(end), 1);
  const std::string text = error_of<InvalidArgument>([&] { end.rethrow(); });
  for (const char* part :
       {"[bad] broken.", "in trigger_epoch of callback 'Actor'", "in epoch 1, step 0, global_step 1"})
    EXPECT_CONTAINS(text, part);
}

TEST(Trainer, a_commit_that_fails_fails_the_run) {
  Actor saver;
  saver.in_trigger = [](Actor& a) {
    a.see().commit_point().request("saver", [](const auto&) { throw InvalidArgument("[disk] full."); });
  };
  Counting trainer;
  const TrainEnd end = trainer.train({.callbacks = {std::move(saver)}, .steps_per_epoch = 1, .max_epoch = 1});
  EXPECT_EQ(end.reason, TrainEnd::failed);
  EXPECT_CONTAINS(end.message, "[disk] full.");
}

TEST(Trainer, after_train_runs_for_all_and_its_error_fails_the_run) {
  int done = 0;
  Actor bad, good;
  bad.in_after_train = [](Actor&) { throw std::runtime_error("no disk"); };
  good.in_after_train = [&](Actor&) { ++done; };
  Counting trainer;
  const TrainEnd end =
      trainer.train({.callbacks = {std::move(bad), std::move(good)}, .steps_per_epoch = 1, .max_epoch = 1});
  EXPECT_EQ(end.reason, TrainEnd::failed);
  EXPECT_EQ(end.message, "no disk");
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace martello
