#include <martello/base/append_file.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/train/internal/checkpoint_saver.h>

#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <set>

namespace martello {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

class CheckpointSaverTest : public ::testing::Test {
 protected:
  CheckpointSaverTest() { fs::create_directory(other_); }

  Checkpoint of_step(int64_t step, std::vector<BestTag> best = {}) const {
    return {.info = {.global_step = step,
                     .position = {step, 1, Phase::trigger_epoch, 0},
                     .run = "this",
                     .best = std::move(best)},
            .variables = {{"w", HostTensor(1.f)}}};
  }
  BestTag tag(double value, const std::string& dir = "") const {
    return {.name = "min-a", .value = value, .keep = 2, .dir = dir.empty() ? dir_ : dir};
  }
  static void save(CheckpointSaver& saver, Checkpoint c, const std::vector<std::string>& dirs) {
    c.info.saved_at = saver.next_time();
    saver.start(std::move(c), dirs);
    saver.wait();
  }
  // As a process that saves one and ends.
  void save_in_a_process(Checkpoint c) const {
    CheckpointSaver saver;
    saver.open({{dir_, {}}}, 0);
    save(saver, std::move(c), {dir_});
  }
  void resume_from(int64_t step) const {
    CheckpointSaver saver;
    saver.open({{dir_, {}}}, 0);
    saver.go_on(read_checkpoint_info(path(step)), {{.who = "MinSaver 'a'", .dir = dir_, .name = "min-a"}});
  }
  std::string path(int64_t step) const { return str(dir_, "/model-", step, ".safetensors"); }
  int64_t best_step() const { return read_checkpoint_info(best_).global_step; }
  Names files(const std::string& dir) const {
    Names names;
    for (const auto& f : fs::directory_iterator(dir))
      if (f.path().extension() == ".safetensors") names.insert(f.path().filename().string());
    return names;
  }

  const testing::TestDir folder_;
  const std::string dir_ = folder_.path(), other_ = dir_ + "/other", best_ = dir_ + "/min-a.safetensors";
};

TEST_F(CheckpointSaverTest, the_last_one_is_the_newest_when_the_clock_was_set_back) {
  Checkpoint before = of_step(1);
  before.info.saved_at = static_cast<double>(std::time(nullptr)) + 3600;
  write_checkpoint(path(1), before);
  CheckpointSaver saver;
  saver.open({{dir_, {.newest = 2}}}, 0);
  for (const int64_t step : {2, 3, 4}) save(saver, of_step(step), {dir_});
  EXPECT_EQ(files(dir_), (Names{"model-3.safetensors", "model-4.safetensors"}));
  EXPECT_EQ(list_checkpoints(dir_)[0].path, path(4));
}

TEST_F(CheckpointSaverTest, two_trainers_of_a_process_do_not_share_a_directory) {
  CheckpointSaver first, second;
  first.open({{dir_, {}}}, 0);
  EXPECT_CONTAINS(testing::error_of<FailedPrecondition>([&] {
                    second.open({{other_ + "/..", {}}}, 0);
                  }),
                  "another part of this process");
  first.close();
  EXPECT_NO_THROW(second.open({{dir_, {}}}, 0));
}

TEST_F(CheckpointSaverTest, the_one_just_written_is_never_deleted) {
  CheckpointSaver saver;
  saver.open({{dir_, {.newest = 1}}}, 0);
  save(saver, of_step(1), {dir_});
  Checkpoint early = of_step(2);
  early.info.saved_at = 1;
  saver.start(early, {dir_});
  saver.wait();
  EXPECT_TRUE(fs::exists(path(2)));
}

TEST_F(CheckpointSaverTest, a_best_one_has_its_name_in_the_directory_of_its_saver_only) {
  CheckpointSaver saver;
  saver.open({{dir_, {}}, {other_, {}}}, 0);
  save(saver, of_step(1, {tag(3, other_)}), {dir_, other_});
  EXPECT_EQ(files(dir_), (Names{"model-1.safetensors"}));
  EXPECT_EQ(files(other_), (Names{"min-a.safetensors", "model-1.safetensors"}));
  EXPECT_TRUE(read_checkpoint_info(path(1)).best.empty());
}

TEST_F(CheckpointSaverTest, what_could_not_be_saved_is_lost_where_that_was) {
  CheckpointSaver saver;
  saver.open({{dir_, {}}, {other_, {}}}, 0);
  fs::create_directory(path(1) + ".part");
  save(saver, of_step(1, {tag(3), tag(4, other_)}), {dir_, other_});
  const auto lost = saver.take_lost();
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].value, 3);
  EXPECT_EQ(lost[0].dir, dir_);
  EXPECT_TRUE(saver.take_lost().empty());
  EXPECT_FALSE(fs::exists(best_));
}

TEST_F(CheckpointSaverTest, a_name_that_could_not_be_written_is_written_with_the_next_one) {
  CheckpointSaver saver;
  saver.open({{dir_, {}}}, 0);
  fs::create_directory(best_ + ".part");
  save(saver, of_step(1, {tag(3)}), {dir_});
  EXPECT_EQ(saver.num_failed(), 1);
  EXPECT_TRUE(saver.take_lost().empty()) << "the file itself is there";
  fs::remove(best_ + ".part");
  save(saver, of_step(2), {dir_});
  EXPECT_EQ(best_step(), 1);
}

// link() fails here because the name is taken.
TEST_F(CheckpointSaverTest, a_best_one_is_a_copy_where_a_file_cannot_have_two_names) {
  CheckpointSaver saver;
  saver.open({{dir_, {}}}, 0);
  write_checkpoint(best_ + ".part", of_step(9));
  save(saver, of_step(1, {tag(3)}), {dir_});
  EXPECT_EQ(best_step(), 1);
  EXPECT_EQ(fs::hard_link_count(best_), 1u);
}

TEST_F(CheckpointSaverTest, a_best_one_that_a_killed_process_has_not_named_is_named) {
  save_in_a_process(of_step(1, {tag(3)}));
  fs::copy_file(best_, dir_ + "/of_step_1");
  save_in_a_process(of_step(2, {tag(1)}));
  save_in_a_process(of_step(3));
  fs::rename(dir_ + "/of_step_1", best_);
  resume_from(3);
  EXPECT_EQ(best_step(), 2);
  fs::remove(best_);
  resume_from(3);
  EXPECT_EQ(best_step(), 2);
  fs::remove(best_);
  resume_from(1);
  EXPECT_EQ(best_step(), 1) << "what came later is of a branch that was given up";
}

TEST_F(CheckpointSaverTest, a_name_stays_with_a_better_one_and_is_taken_from_another_run) {
  save_in_a_process(of_step(1, {tag(3)}));
  Checkpoint better = of_step(7, {tag(2)});
  write_checkpoint(best_, better);
  resume_from(1);
  EXPECT_EQ(best_step(), 7);
  better.info.run = "another";
  write_checkpoint(best_, better);
  resume_from(1);
  EXPECT_EQ(best_step(), 1);
}

Checkpoint position_after(Checkpoint end_of_epoch) {
  end_of_epoch.info.position = {end_of_epoch.info.position.epoch_num + 1, 0, Phase::before_epoch, 0};
  end_of_epoch.info.best.clear();
  return end_of_epoch;
}

TEST_F(CheckpointSaverTest, a_position_is_kept_for_what_the_end_of_the_epoch_was_kept_for) {
  CheckpointSaver saver;
  saver.open({{dir_, {.newest = 1, .every_epochs = 2}}}, 0);
  for (const int64_t epoch : {1, 2}) {
    save(saver, of_step(epoch, epoch == 1 ? std::vector{tag(3)} : std::vector<BestTag>()), {dir_});
    save(saver, position_after(of_step(epoch)), {dir_});
  }
  save(saver, of_step(3), {dir_});
  EXPECT_EQ(files(dir_),
            (Names{"min-a.safetensors", "model-1.safetensors", "model-2.safetensors", "model-3.safetensors"}));
  EXPECT_EQ(read_checkpoint_info(path(2)).position.phase, Phase::before_epoch);
  EXPECT_EQ(read_checkpoint_info(path(2)).replaced_end, 2);
  EXPECT_EQ(read_checkpoint_info(path(1)).best.at(0).value, 3);
  EXPECT_EQ(read_checkpoint_info(best_).position.phase, Phase::trigger_epoch) << "the best one itself stays";
}

TEST_F(CheckpointSaverTest, a_position_of_a_resumed_run_is_too) {
  save_in_a_process(of_step(1, {tag(3)}));
  CheckpointSaver saver;
  saver.open({{dir_, {}}}, 0);
  saver.go_on(read_checkpoint_info(path(1)), {});
  save(saver, position_after(of_step(1)), {dir_});
  EXPECT_EQ(read_checkpoint_info(path(1)).best.size(), 1u);
}

TEST_F(CheckpointSaverTest, a_branch_that_was_given_up_hands_nothing_down) {
  save_in_a_process(of_step(1));
  save_in_a_process(of_step(2, {tag(3)}));
  CheckpointSaver saver;
  saver.open({{dir_, {}}}, 0);
  saver.go_on(read_checkpoint_info(path(1)), {});
  save(saver, position_after(of_step(2)), {dir_});
  EXPECT_TRUE(read_checkpoint_info(path(2)).best.empty());
  EXPECT_FALSE(read_checkpoint_info(path(2)).replaced_end);
}

// Large enough that cancel() comes in time.
TEST_F(CheckpointSaverTest, a_save_is_given_up_only_for_one_that_takes_its_place) {
  const auto is_saved = [&](const std::vector<CommitPoint::Directory>& directories, bool is_tagged) {
    CheckpointSaver saver;
    saver.open(directories, 0);
    Checkpoint c = of_step(1, is_tagged ? std::vector{tag(3)} : std::vector<BestTag>());
    c.variables[0].value = HostTensor({16 << 20}, f32);
    c.info.saved_at = saver.next_time();
    std::vector<std::string> dirs;
    for (const auto& d : directories) dirs.push_back(d.path);
    saver.start(std::move(c), dirs);
    saver.cancel();
    saver.wait();
    bool is_there = true;
    for (const std::string& dir : dirs) is_there &= fs::remove(dir + "/model-1.safetensors");
    return is_there;
  };
  EXPECT_FALSE(is_saved({{dir_, {}}}, false));
  EXPECT_TRUE(is_saved({{dir_, {}}}, true));
  EXPECT_TRUE(is_saved({{dir_, {.newest = 0}}}, false));
  EXPECT_TRUE(is_saved({{dir_, {.newest = 1, .every_epochs = 1}}}, false));
  EXPECT_TRUE(is_saved({{dir_, {}}, {other_, {}}}, false)) << "the position is saved in the first one only";
}

}  // namespace
}  // namespace martello
