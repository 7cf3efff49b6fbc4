#include <martello/base/append_file.h>
#include <martello/base/directory_lock.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/logger_dir.h>
#include <martello/callbacks/model_saver.h>
#include <martello/callbacks/wrappers.h>
#include <martello/codec/safetensors.h>
#include <martello/graph/collections.h>
#include <martello/ops/assign.h>
#include <martello/train/checkpoint_contents.h>
#include <martello/train/internal/test_actor.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace martello {
namespace {

namespace fs = std::filesystem;
using testing::Actor;
using testing::error_of;
using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;

class ModelSaverTest : public ::testing::Test {
 protected:
  ModelSaverTest() {
    trainer_.setup_graph(kLineSignature, LineInput(), line_cost, [] { return Momentum(0.01); });
  }
  TrainEnd train(CallbackList callbacks, int64_t epochs = 3) {
    return trainer_.train({.callbacks = std::move(callbacks), .steps_per_epoch = 2, .max_epoch = epochs});
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& f : fs::directory_iterator(dir_)) names.insert(f.path().filename().string());
    names.erase(DirectoryLock::kFileName);
    return names;
  }
  using Names = std::set<std::string>;

  const testing::TestDir folder_;
  const std::string dir_ = folder_.path();
  SimpleTrainer trainer_;
};

TEST_F(ModelSaverTest, saves_all_global_variables_and_the_step) {
  // A variable that a later callback makes is saved as well.
  Actor late;
  late.in_setup = [](Actor&) { get_variable("late", {.shape = {2}, .trainable = false}); };
  ASSERT_EQ(train({ModelSaver({.dir = dir_}), std::move(late)}).reason, TrainEnd::finished);
  EXPECT_EQ(files(), (Names{"model-2.safetensors", "model-4.safetensors", "model-6.safetensors"}));
  const SafetensorsFile file(dir_ + "/model-6.safetensors");
  const auto variables = trainer_.graph().collections().get(kGlobalVariables);
  EXPECT_EQ(read_checkpoint(file.path()).variables.size(), variables.size());
  EXPECT_GE(variables.size(), 6);
  for (const Variable& v : variables) {
    const std::string name = v.handle().name();
    EXPECT_TRUE(file.read(name).same_bits(trainer_.sess().get(name))) << name;
  }
  EXPECT_EQ(file.read("global_step").scalar<int64_t>(), 6);
  EXPECT_NE(file.find("line/w/Momentum"), nullptr);
}

TEST_F(ModelSaverTest, keeps_the_newest) {
  ASSERT_EQ(train({ModelSaver({.max_to_keep = 2, .dir = dir_})}, 5).reason, TrainEnd::finished);
  EXPECT_EQ(files(), (Names{"model-8.safetensors", "model-10.safetensors"}));
}

TEST_F(ModelSaverTest, keeps_all_when_asked_to) {
  ASSERT_EQ(train({ModelSaver({.max_to_keep = 0, .dir = dir_})}, 12).reason, TrainEnd::finished);
  EXPECT_EQ(files().size(), 12);
}

TEST_F(ModelSaverTest, a_resumed_run_keeps_on_deleting_and_leaves_files_of_others) {
  const auto options = [&](int64_t epochs, std::string from) {
    return TrainOptions{.callbacks = {ModelSaver({.max_to_keep = 2, .dir = dir_})},
                        .steps_per_epoch = 2,
                        .max_epoch = epochs,
                        .resume = {.from = std::move(from)}};
  };
  const auto train_anew = [&](TrainOptions o) {
    SimpleTrainer trainer;
    trainer.setup_graph(kLineSignature, LineInput(), line_cost, [] { return Momentum(0.01); });
    EXPECT_EQ(trainer.train(std::move(o)).reason, TrainEnd::finished);
  };
  train_anew(options(1, "none"));
  fs::rename(dir_ + "/model-2.safetensors", dir_ + "/model-1.safetensors");
  train_anew(options(2, "none"));
  EXPECT_EQ(files(), (Names{"model-1.safetensors", "model-2.safetensors", "model-4.safetensors"}));
  train_anew(options(3, "auto"));
  EXPECT_EQ(files(), (Names{"model-1.safetensors", "model-4.safetensors", "model-6.safetensors"}));
}

TEST_F(ModelSaverTest, saves_what_is_true_when_all_callbacks_had_their_turn) {
  Actor later;
  Operation reset;
  later.in_setup = [&](Actor& a) { reset = assign(Variable(a.see().get_tensor("line/w")), 7.f); };
  later.in_trigger = [&](Actor& a) { a.see().sess().run(reset); };
  ASSERT_EQ(train({ModelSaver({.dir = dir_}), std::move(later)}, 1).reason, TrainEnd::finished);
  EXPECT_EQ(SafetensorsFile(dir_ + "/model-2.safetensors").read("line/w").scalar<float>(), 7);
}

TEST_F(ModelSaverTest, two_of_them_save_in_two_periods) {
  fs::create_directory(dir_ + "/rare");
  ASSERT_EQ(train({PeriodicTrigger(ModelSaver({.dir = dir_ + "/rare"}), {.epochs = 2}),
                   ModelSaver({.max_to_keep = 1, .dir = dir_})})
                .reason,
            TrainEnd::finished);
  EXPECT_EQ(files(), (Names{"rare", "model-6.safetensors"}));
  EXPECT_TRUE(fs::exists(dir_ + "/rare/model-4.safetensors"));
}

TEST_F(ModelSaverTest, makes_its_directory) {
  ASSERT_EQ(train({ModelSaver({.dir = dir_ + "/a/b"})}, 1).reason, TrainEnd::finished);
  EXPECT_TRUE(fs::exists(dir_ + "/a/b/model-2.safetensors"));
}

TEST_F(ModelSaverTest, uses_the_directory_of_the_log) {
  logger::set_logger_dir(dir_ + "/log", logger::OldRun::keep);
  EXPECT_EQ(train({ModelSaver()}, 1).reason, TrainEnd::finished);
  logger::close_logger_dir();
  EXPECT_TRUE(fs::exists(dir_ + "/log/model-2.safetensors"));
}

TEST_F(ModelSaverTest, wrong_use_is_refused_before_the_first_step) {
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { static_cast<void>(train({ModelSaver()})); }), "auto_set_dir()");
  EXPECT_EQ(trainer_.loop().global_step, 0);
  const std::string text = error_of<InvalidArgument>([] { ModelSaver({.max_to_keep = -1}); });
  for (const char* part : {".max_to_keep is -1", "model_saver_test.cc"}) EXPECT_CONTAINS(text, part);
  std::ofstream(dir_ + "/file") << "";
  SimpleTrainer trainer;
  trainer.setup_graph(kLineSignature, LineInput(), line_cost, [] { return Momentum(0.01); });
  EXPECT_CONTAINS(
      error_of<InvalidArgument>([&] {
        static_cast<void>(trainer.train({.callbacks = {ModelSaver({.dir = dir_ + "/file/x"})}, .steps_per_epoch = 1}));
      }),
      "cannot make the directory");
}

TEST_F(ModelSaverTest, a_disk_that_refuses_stops_nothing_but_is_told) {
  Actor blocker;
  blocker.in_before_train = [&](Actor&) { fs::create_directory(dir_ + "/model-2.safetensors.part"); };
  const TrainEnd end = train({ModelSaver({.dir = dir_}), std::move(blocker)});
  EXPECT_EQ(end.reason, TrainEnd::finished);
  EXPECT_EQ(end.failed_saves, 1);
  EXPECT_EQ(static_cast<int>(end), 3);
  EXPECT_EQ(trainer_.monitors().get_latest("failed_saves"), 1);
  EXPECT_EQ(files(), (Names{"model-2.safetensors.part", "model-4.safetensors", "model-6.safetensors"}));
}

TEST_F(ModelSaverTest, a_disk_that_always_refuses_ends_the_run) {
  Actor remover;
  remover.in_trigger = [&](Actor&) { fs::remove_all(dir_ + "/sub"); };
  const TrainEnd end = train({ModelSaver({.dir = dir_ + "/sub"}), std::move(remover)}, 9);
  EXPECT_EQ(end.reason, TrainEnd::failed);
  for (const char* part : {"3 saves in a row", "model-6.safetensors", "No such file"})
    EXPECT_CONTAINS(end.message, part);
  EXPECT_EQ(trainer_.loop().epoch_num, 4);
}

struct FullDisk : Monitor {
  std::string name() const override { return "FullDisk"; }
  void flush() override { throw FileError("[file 'log'] no room."); }
};

TEST_F(ModelSaverTest, logs_that_can_never_be_written_end_the_run_too) {
  const TrainEnd end = trainer_.train({.callbacks = {ModelSaver({.dir = dir_})},
                                       .monitors = std::vector<Ref<Monitor>>{FullDisk()},
                                       .steps_per_epoch = 2,
                                       .max_epoch = 9});
  EXPECT_EQ(end.reason, TrainEnd::failed);
  for (const char* part : {"3 saves in a row", "no room"}) EXPECT_CONTAINS(end.message, part);
  EXPECT_EQ(trainer_.loop().epoch_num, 4);
}

}  // namespace
}  // namespace martello
