// The best checkpoint is that of a run that nobody disturbed, or the best of what could be saved.
#include <martello/base/append_file.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/best_saver.h>
#include <martello/callbacks/model_saver.h>
#include <martello/loop/monitor.h>
#include <martello/loop/monitors.h>
#include <martello/train/checkpoint.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <functional>

namespace martello {
namespace {

namespace fs = std::filesystem;
using testing::error_of;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;

// One value per epoch.
struct Score : Callback {
  explicit Score(std::vector<double> s) : scores(std::move(s)) {}
  std::string name() const override { return "Score"; }
  void trigger() override { monitors().put_scalar("score", scores.at(static_cast<size_t>(epoch_num() - 1))); }
  std::vector<std::string> provides() const override { return {"score"}; }
  std::vector<double> scores;
};

// Acts in one hook of one epoch.
struct Doer : Callback {
  Doer(std::string h, int64_t e, std::function<void()> a) : hook(std::move(h)), epoch(e), act(std::move(a)) {}
  std::string name() const override { return "Doer"; }
  void before_epoch() override { act_in("before_epoch"); }
  void trigger() override { act_in("trigger"); }
  void act_in(const std::string& here) const {
    if (hook == here && epoch_num() == epoch) act();
  }
  std::string hook;
  int64_t epoch;
  std::function<void()> act;
};

class BestSaverTest : public ::testing::Test {
 protected:
  TrainEnd train(CallbackList callbacks, std::string from = "none", std::vector<Ref<Monitor>> monitors = {}) {
    SimpleTrainer trainer;
    trainer.setup_graph(kLineSignature, LineInput(), line_cost, [] { return Momentum(0.01); });
    return trainer.train({.callbacks = std::move(callbacks),
                          .monitors = std::move(monitors),
                          .steps_per_epoch = 2,
                          .max_epoch = 3,
                          .resume = {.from = std::move(from)},
                          .handle_signals = true});
  }
  int64_t best_step() const { return read_checkpoint_info(dir_ + "/min-score.safetensors").global_step; }
  std::string model(int64_t step) const { return str(dir_, "/model-", step, ".safetensors"); }

  const testing::TestDir folder_;
  const std::string dir_ = folder_.path();
};

TEST_F(BestSaverTest, survives_a_signal_between_its_turn_and_the_commit) {
  const auto callbacks = [&](bool raises) {
    return CallbackList{Score({3, 1, 2}), MinSaver("score", {.dir = dir_}), ModelSaver({.max_to_keep = 1, .dir = dir_}),
                        Doer("trigger", raises ? 2 : -1, [] { std::raise(SIGTERM); })};
  };
  ASSERT_EQ(static_cast<int>(train(callbacks(true))), 143);
  ASSERT_EQ(train(callbacks(false), "auto").reason, TrainEnd::finished);
  EXPECT_EQ(best_step(), 4);
  EXPECT_TRUE(fs::exists(model(4))) << "one of the best stays";
}

TEST_F(BestSaverTest, survives_a_signal_in_a_directory_that_is_moved_afterwards) {
  const std::string moved = dir_ + "/moved";
  const auto callbacks = [&](const std::string& dir, bool raises) {
    return CallbackList{Score({3, 1, 2}), MinSaver("score", {.dir = dir}),
                        Doer("trigger", raises ? 2 : -1, [] { std::raise(SIGTERM); })};
  };
  ASSERT_EQ(static_cast<int>(train(callbacks(dir_ + "/first", true))), 143);
  fs::rename(dir_ + "/first", moved);
  ASSERT_EQ(train(callbacks(moved, false), "auto").reason, TrainEnd::finished);
  EXPECT_EQ(read_checkpoint_info(moved + "/min-score.safetensors").global_step, 4);
}

TEST_F(BestSaverTest, what_could_not_be_saved_was_never_the_best) {
  const TrainEnd end = train({Doer("before_epoch", 2, [&] { fs::create_directory(model(4) + ".part"); }),
                              Score({3, 1, 2}), MinSaver("score", {.dir = dir_}), ModelSaver({.dir = dir_})});
  EXPECT_EQ(static_cast<int>(end), 3);
  EXPECT_EQ(best_step(), 6) << "2 is less than 3, and the file with 1 is not there";
}

// Its log cannot be written once.
struct BadDisk : Monitor {
  std::string name() const override { return "BadDisk"; }
  void trigger_epoch() override { is_bad = epoch_num() == 2; }
  void flush() override {
    if (is_bad) throw FileError("[file 'log'] no room.");
  }
  bool is_bad = false;
};

TEST_F(BestSaverTest, neither_was_what_was_given_up_because_a_log_could_not_be_written) {
  const TrainEnd end = train({Score({3, 1, 2}), MinSaver("score", {.dir = dir_})}, "none", {BadDisk()});
  EXPECT_EQ(static_cast<int>(end), 3);
  EXPECT_EQ(best_step(), 6);
}

// The signal comes before it has looked at the last value.
TEST_F(BestSaverTest, a_failed_save_is_forgotten_by_a_resumed_run_too) {
  const auto callbacks = [&](bool fails) {
    return CallbackList{Doer("before_epoch", fails ? 2 : -1, [&] { fs::create_directory(model(4) + ".part"); }),
                        Doer("trigger", fails ? 3 : -1, [] { std::raise(SIGTERM); }), Score({3, 1, 2}),
                        MinSaver("score", {.dir = dir_}), ModelSaver({.dir = dir_})};
  };
  ASSERT_EQ(static_cast<int>(train(callbacks(true))), 143);
  ASSERT_EQ(train(callbacks(false), "auto").reason, TrainEnd::finished);
  EXPECT_FALSE(fs::exists(model(4)));
  EXPECT_EQ(best_step(), 6);
}

TEST_F(BestSaverTest, a_position_between_two_epochs_leaves_the_best_one_its_tag) {
  const TrainEnd end = train({Score({1, 2, 3}), MinSaver("score", {.keep = 2, .dir = dir_}),
                              ModelSaver({.max_to_keep = 1, .dir = dir_, .keep_every_epochs = 1}),
                              Doer("before_epoch", 2, [] { std::raise(SIGTERM); })});
  ASSERT_EQ(static_cast<int>(end), 143);
  EXPECT_EQ(read_checkpoint_info(model(2)).best.at(0).value, 1);
  EXPECT_EQ(read_checkpoint_info(model(2)).replaced_end, 1);
}

TEST_F(BestSaverTest, one_directory_may_have_two_names) {
  fs::create_directory_symlink(dir_, dir_ + "/link");
  const TrainEnd end = train({Score({3, 1, 2}), ModelSaver({.max_to_keep = 2, .dir = dir_}),
                              MinSaver("score", {.dir = dir_ + "/."}), ModelSaver({.dir = dir_ + "/link"})});
  EXPECT_EQ(end.reason, TrainEnd::finished) << end.message;
  EXPECT_EQ(best_step(), 4);
  EXPECT_EQ(list_checkpoints(dir_).size(), 3u) << "the more generous rule";
}

TEST_F(BestSaverTest, two_that_would_make_the_same_file_are_refused) {
  const std::string text = error_of<InvalidArgument>([&] {
    static_cast<void>(train({Score({3, 1, 2}), MinSaver("score", {.filename = "top", .dir = dir_}),
                             MaxSaver("score", {.filename = "top", .dir = dir_ + "/."})}));
  });
  for (const char* part : {"[MaxSaver 'score'] and [MinSaver 'score']", "/top.safetensors", ".filename"})
    EXPECT_CONTAINS(text, part);
}

// The names stand in checkpoints, a line each.
TEST_F(BestSaverTest, file_names_that_a_checkpoint_cannot_hold_are_refused) {
  for (const char* name : {"a\nb", "a\xff", "a/b", "model-1"})
    EXPECT_CONTAINS(error_of<InvalidArgument>([&] { MinSaver("score", {.filename = name}); }), ".filename is \"");
}

TEST_F(BestSaverTest, has_its_file_in_its_own_directory) {
  ASSERT_EQ(
      train({Score({3, 1, 2}), ModelSaver({.dir = dir_ + "/all"}), MinSaver("score", {.dir = dir_ + "/best"})}).reason,
      TrainEnd::finished);
  EXPECT_TRUE(fs::exists(dir_ + "/best/min-score.safetensors"));
  EXPECT_FALSE(fs::exists(dir_ + "/all/min-score.safetensors"));
}

}  // namespace
}  // namespace martello
