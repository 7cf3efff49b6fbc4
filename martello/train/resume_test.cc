// A run that was interrupted and resumed is the run that was not.
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/best_saver.h>
#include <martello/callbacks/model_saver.h>
#include <martello/callbacks/monitors/stats_file.h>
#include <martello/callbacks/monitors/writers.h>
#include <martello/callbacks/run_op.h>
#include <martello/callbacks/wrappers.h>
#include <martello/graph/collections.h>
#include <martello/input/queue_input.h>
#include <martello/models/dropout.h>
#include <martello/ops/assign.h>
#include <martello/testing/recording_callback.h>
#include <martello/train/checkpoint.h>
#include <martello/train/internal/test_actor.h>
#include <martello/train/internal/test_input.h>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace martello {
namespace {

namespace fs = std::filesystem;
using namespace testing;

// What a run was: variables as texts, and scalars with their steps.
struct Outcome {
  TrainEnd end;
  std::vector<std::string> variables;
  std::vector<std::string> rows;
  std::vector<float> samples;
};

class ResumeTest : public ::testing::Test {
 protected:
  static Tensor cost(Tensor x) {
    const auto w = get_variable("w", {.shape = {6}, .initializer = ones()});
    return reduce_sum(dropout("drop", w * x, {.rate = 0.5}) - w, {}, "cost");
  }
  struct How {
    CallbackList callbacks = {};
    std::string from = "none";
    int64_t epochs = 2, steps = 3;
    std::vector<std::string> accept = {};
    DataFlowRef flow = numbers(11).shuffle();
    bool saves_each_step = true;
  };
  Outcome run(How how) {
    Outcome out;
    SimpleTrainer trainer;
    trainer.setup_graph(kNumberSignature, QueueInput(how.flow), cost, [] { return Adam(0.1); });
    CallbackList callbacks = {std::move(how.callbacks)};
    callbacks.push_back(PeriodicTrigger(ModelSaver({.max_to_keep = 0, .dir = dir_}),
                                        {.steps = how.saves_each_step ? 1 : 0, .epochs = 1}));
    callbacks.push_back(Seen(out.samples));
    out.end = trainer.train({.callbacks = std::move(callbacks),
                             .extra_callbacks = CallbackList(),
                             .monitors = std::vector<Ref<Monitor>>{JSONWriter(dir_), CSVWriter(dir_)},
                             .steps_per_epoch = how.steps,
                             .max_epoch = how.epochs,
                             .resume = {.from = std::move(how.from), .accept = std::move(how.accept)},
                             .handle_signals = true});
    for (const auto key : {kGlobalVariables, kLocalVariables})
      for (const Variable& v : trainer.graph().collections().get(key))
        out.variables.push_back(str(v.handle().name(), " ", trainer.sess().get(v.handle())));
    for (const StatsRow& row : load_stats(dir_ + "/stats.jsonl"))
      out.rows.push_back(stats_line({row.epoch_num, row.global_step, row.scalars, {}}));
    return out;
  }
  // In a directory of its own.
  Outcome undisturbed(How how) {
    const std::string mine = dir_;
    dir_ = mine + "/whole";
    fs::create_directory(dir_);
    Outcome out = run(std::move(how));
    fs::remove_all(dir_);
    dir_ = mine;
    return out;
  }

  const testing::TestDir folder_;
  std::string dir_ = folder_.path();
};

void expect_same(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.variables, b.variables);
  EXPECT_EQ(a.rows, b.rows);
}

// Puts a scalar wherever a callback can.
struct Talker : Callback {
  std::string name() const override { return "Talker"; }
  void before_train() override { monitors().put_scalar("in_before_train", ++count); }
  void before_epoch() override { monitors().put_scalar("in_before_epoch", ++count); }
  void trigger_step() override { monitors().put_scalar("in_step", ++count); }
  void after_epoch() override { monitors().put_scalar("in_after_epoch", ++count); }
  void trigger() override { monitors().put_scalar("in_trigger", ++count); }
  void state(State& s) override { s("count", count); }
  int64_t count = 0;
};

TEST_F(ResumeTest, is_the_same_run_from_every_hook_on) {
  const Outcome whole = undisturbed({.callbacks = {Talker()}});
  ASSERT_EQ(whole.rows.size(), 7u);
  for (const char* hook : {"before_epoch", "trigger_step", "after_epoch", "trigger"})
    for (int nth : {1, 2}) {
      SCOPED_TRACE(str(hook, " ", nth));
      const auto events = make<Events>();
      Outcome out = run({.callbacks = {Talker(), RecordingCallback("R", events).at(hook, nth, [] {
                                         throw std::runtime_error("as if killed");
                                       })}});
      ASSERT_EQ(out.end.reason, TrainEnd::failed);
      Outcome rest = run({.callbacks = {Talker(), RecordingCallback("R", events)}, .from = "auto"});
      ASSERT_EQ(rest.end.reason, TrainEnd::finished) << rest.end.message;
      expect_same(rest, whole);
      fs::remove_all(dir_), fs::create_directory(dir_);
    }
}

TEST_F(ResumeTest, a_signal_leaves_no_hook_out_and_none_comes_twice) {
  const auto all = make<Events>();
  const Outcome whole =
      undisturbed({.callbacks = {Talker(), RecordingCallback("A", all), RecordingCallback("B", all)}});
  for (const char* hook : {"before_epoch", "before_run", "trigger_step", "after_epoch", "trigger"}) {
    SCOPED_TRACE(hook);
    const auto first = make<Events>(), second = make<Events>();
    Outcome out = run({.callbacks = {Talker(), RecordingCallback("A", first).at(hook, 1, [] { std::raise(SIGTERM); }),
                                     RecordingCallback("B", first)},
                       .saves_each_step = false});
    ASSERT_EQ(static_cast<int>(out.end), 143);
    Outcome rest = run({.callbacks = {Talker(), RecordingCallback("A", second), RecordingCallback("B", second)},
                        .from = "auto",
                        .saves_each_step = false});
    ASSERT_EQ(rest.end.reason, TrainEnd::finished) << rest.end.message;
    EXPECT_EQ(rest.variables, whole.variables);
    EXPECT_EQ(rest.rows, whole.rows);
    Events joined;
    for (const std::string& e : *first)
      if (e.find("after_train") == std::string::npos) joined.push_back(e);
    for (const std::string& e : *second)
      if (e.find("before_train") == std::string::npos && e.find("setup_graph") == std::string::npos)
        joined.push_back(e);
    EXPECT_EQ(joined, *all);
    fs::remove_all(dir_), fs::create_directory(dir_);
  }
}

TEST_F(ResumeTest, what_before_train_does_again_leaves_no_trace) {
  const auto adds = [] {
    return RunOp([] { return assign_add(get_variable("n", {.initializer = zeros(), .trainable = false}), 1.f); },
                 {.before = true, .as_trigger = true});
  };
  const Outcome whole = undisturbed({.callbacks = {adds()}, .epochs = 3});
  run({.callbacks = {adds()}, .epochs = 1});
  run({.callbacks = {adds()}, .from = "auto", .epochs = 2});
  expect_same(run({.callbacks = {adds()}, .from = "auto", .epochs = 3}), whole);
}

TEST_F(ResumeTest, a_finished_run_goes_on_when_it_is_given_more_epochs) {
  const Outcome whole = undisturbed({.epochs = 3});
  const Outcome first = run({.epochs = 2});
  EXPECT_TRUE(list_checkpoints(dir_)[0].info->is_finished());
  const Outcome nothing = run({.from = "auto", .epochs = 2});
  EXPECT_TRUE(nothing.samples.empty());
  expect_same(nothing, first);
  expect_same(run({.from = "auto", .epochs = 3}), whole);
}

TEST_F(ResumeTest, the_path_of_a_checkpoint_means_that_one) {
  const Outcome whole = run({});
  EXPECT_EQ(run({.from = dir_ + "/model-2.safetensors"}).variables, whole.variables);
  EXPECT_CONTAINS(error_of<NotFound>([&] { run({.from = dir_ + "/model-99.safetensors"}); }), "no such file");
}

TEST_F(ResumeTest, refuses_another_program_readably) {
  run({.epochs = 1});
  const std::string text = error_of<FailedPrecondition>(
      [&] { run({.callbacks = {Talker()}, .from = "auto", .steps = 4, .flow = numbers(12).shuffle()}); });
  for (const char* part : {"steps_per_epoch:\n    - 3\n    + 4", "+ Talker", "from_index(12", ".resume.accept = {"})
    EXPECT_CONTAINS(text, part);
  const Outcome out = run({.callbacks = {Talker()},
                           .from = "auto",
                           .steps = 4,
                           .accept = {"steps_per_epoch", "callbacks", "data"},
                           .flow = numbers(12).shuffle()});
  EXPECT_EQ(out.end.reason, TrainEnd::finished) << out.end.message;
}

TEST_F(ResumeTest, data_that_changed_behind_the_same_description_is_found) {
  const auto flow = [](float offset) {
    return numbers(11).map([offset](Datapoint d) { return Datapoint(d[0].scalar<float>() + offset); });
  };
  run({.epochs = 1, .flow = flow(0)});
  const Outcome out = run({.from = "auto", .flow = flow(1)});
  EXPECT_EQ(out.end.reason, TrainEnd::failed);
  EXPECT_CONTAINS(out.end.message, "has changed: the last datapoint before the checkpoint");
  EXPECT_EQ(run({.from = "auto", .accept = {"data"}, .flow = flow(1)}).end.reason, TrainEnd::finished);
}

TEST_F(ResumeTest, a_log_that_somebody_changed_is_put_aside) {
  Log log;
  run({.callbacks = {Talker()}, .epochs = 1});
  std::ofstream(dir_ + "/stats.jsonl") << "{\"global_step\":1}\n";
  EXPECT_EQ(run({.callbacks = {Talker()}, .from = "auto"}).end.reason, TrainEnd::finished);
  EXPECT_EQ(load_stats(dir_ + "/stats.jsonl").size(), 3u) << "of the second epoch";
  EXPECT_TRUE(std::any_of(log.lines.begin(), log.lines.end(), [](const std::string& line) {
    return line.find("stats.jsonl'] is not what the checkpoint has seen") != std::string::npos;
  }));
}

// Its scalar is better in every other epoch.
struct Score : Callback {
  std::string name() const override { return "Score"; }
  void trigger() override {
    const int64_t e = epoch_num();
    monitors().put_scalar("score", static_cast<double>(e % 2 == 0 ? -e : e));
  }
  std::vector<std::string> provides() const override { return {"score"}; }
};

TEST_F(ResumeTest, the_best_checkpoint_has_a_name_and_stays) {
  const auto train = [&](int64_t epochs, std::string from) {
    SimpleTrainer trainer;
    trainer.setup_graph(kNumberSignature, QueueInput(numbers(11)), cost, [] { return Adam(0.1); });
    const TrainEnd end =
        trainer.train({.callbacks = {MinSaver("score", {.dir = dir_}), ModelSaver({.max_to_keep = 1, .dir = dir_}),
                                     MaxSaver("score", {.filename = "top", .dir = dir_}), Score()},
                       .steps_per_epoch = 1,
                       .max_epoch = epochs,
                       .resume = {.from = std::move(from)}});
    ASSERT_EQ(end.reason, TrainEnd::finished) << end.message;
  };
  const auto step_of = [&](const std::string& name) {
    return read_checkpoint_info(dir_ + "/" + name + ".safetensors").global_step;
  };
  train(3, "none");
  EXPECT_EQ(step_of("min-score"), 2);
  EXPECT_EQ(step_of("top"), 3);
  EXPECT_EQ(list_checkpoints(dir_).size(), 2u) << "the newest, and the best by min-score";
  train(4, "auto");
  EXPECT_EQ(step_of("min-score"), 4);
  EXPECT_EQ(step_of("top"), 3);
  EXPECT_EQ(list_checkpoints(dir_).size(), 2u);
}

}  // namespace
}  // namespace martello
