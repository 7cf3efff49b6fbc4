// A save that is cut off or refused by the disk leaves no bad directory behind. Each call in turn is refused; at some
// of them the process is killed.
#include "driver.h"

#include <martello/base/error.h>
#include <martello/train/checkpoint.h>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace chaos {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const Words kWords = {"epochs=2", "steps=4", "save_every=2"};
constexpr int kPoints = 24;  // of a run at which it is killed, times the effort

Start with_fault(const Folder& folder, int call, const std::string& what) {
  return {folder.path(),
          kWords,
          {{"LD_PRELOAD", CHAOS_SHIM},
           {"CHAOS_DIR", folder.path()},
           {"CHAOS_CALL", std::to_string(call)},
           {"CHAOS_DO", what}}};
}

// Calls to the file system in a whole run.
int count_calls() {
  static const int calls = [] {
    const Folder folder, counter;
    Start how = with_fault(folder, 0, "");
    how.environment["CHAOS_COUNT"] = counter.path() + "/count";
    EXPECT_EQ(run(how), 0) << folder.log();
    return static_cast<int>(counter.read("count").size());
  }();
  return calls;
}

// The last checkpoint that the log has called saved.
std::string newest_acknowledged(const Folder& folder) {
  const std::string log = folder.log(), mark = "[checkpoints] saved '";
  const size_t at = log.rfind(mark);
  if (at == std::string::npos) return "";
  return log.substr(at + mark.size(), log.find('\'', at + mark.size()) - at - mark.size());
}

void expect_newest_loads(const Folder& folder) {
  const std::string path = newest_acknowledged(folder);
  if (path.empty()) return;
  EXPECT_NO_THROW(martello::verify_checkpoint(path)) << path;
}

void expect_goes_on(const Folder& folder) {
  ASSERT_EQ(run({folder.path(), kWords}), 0) << folder.log();
  EXPECT_EQ(folder.read("digest.txt"), undisturbed(kWords));
  EXPECT_TRUE(folder.list(".part").empty());
}

// The step of the model that is called the best.
int64_t best_step(const Folder& folder) {
  return martello::read_checkpoint_info(folder.path() + "/min-validation_cost.safetensors").global_step;
}

int64_t undisturbed_best_step() {
  static const int64_t step = [] {
    const Folder folder;
    EXPECT_EQ(run({folder.path(), kWords}), 0) << folder.log();
    return best_step(folder);
  }();
  return step;
}

// Whether that call was one on the way to a checkpoint: what cannot be deleted afterwards costs nothing.
bool is_of_a_save(const std::string& hit) {
  return hit.find("/model-") != std::string::npos && !hit.starts_with("unlink ") && !hit.starts_with("remove ");
}

// Every so manieth of all calls, beginning with another one for each kind of fault.
template <class F>
void for_calls(int offset, F&& f) {
  const int calls = count_calls(), stride = std::max(1, calls / (kPoints * effort()));
  ASSERT_GT(calls, 50);
  for (int call = 1 + offset % stride; call <= calls; call += stride) f(call);
}

TEST(Chaos, killed_at_the_points_of_a_save) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer must come first";
  int offset = 0;
  for (const std::string what : {"kill", "torn", "after"})
    for_calls(++offset, [&](int call) {
      SCOPED_TRACE(what + " in call " + std::to_string(call));
      const Folder folder;
      const int code = run(with_fault(folder, call, what));
      ASSERT_TRUE(code == -SIGKILL || code == 0) << code << folder.log();
      expect_newest_loads(folder);
      expect_goes_on(folder);
      EXPECT_EQ(best_step(folder), undisturbed_best_step());
    });
}

TEST(Chaos, a_call_that_fails_is_told_and_harms_nothing) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer must come first";
  ASSERT_GT(count_calls(), 50);
  int saves = 0;
  for (const std::string what : {"ENOSPC", "EIO"})
    for (int call = 1; call <= count_calls(); ++call) {
      const Folder folder, hit;
      Start how = with_fault(folder, call, what);
      how.environment["CHAOS_HIT"] = hit.path() + "/hit";
      const int code = run(how);
      SCOPED_TRACE(what + " in call " + std::to_string(call) + ": " + hit.read("hit"));
      ASSERT_TRUE(code == 0 || code == 1 || code == 3) << code << folder.log();
      const bool is_told = folder.log().find("could not be saved") != std::string::npos;
      EXPECT_TRUE(!is_told || code != 0) << folder.log();
      if (is_of_a_save(hit.read("hit"))) {
        EXPECT_TRUE(is_told && code == 3) << code << folder.log();
        ++saves;
      }
      EXPECT_TRUE(code != 3 || folder.read("stats.jsonl").find("failed_saves") != std::string::npos) << folder.log();
      EXPECT_TRUE(folder.list(".part").empty());
      expect_newest_loads(folder);
      expect_goes_on(folder);
    }
  EXPECT_GT(saves, 20);
}

TEST(Chaos, a_file_that_may_not_grow_is_told) {
  const Folder folder;
  Start how{folder.path(), kWords};
  how.most_file_bytes = 30000;
  EXPECT_EQ(run(how), 1) << folder.log();
  EXPECT_NE(folder.log().find("File too large"), std::string::npos);
  EXPECT_TRUE(folder.list(".part").empty());
  expect_goes_on(folder);
}

void flip_a_bit(const std::string& path, size_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const char byte = static_cast<char>(file.get() ^ 4);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

TEST(Chaos, a_damaged_checkpoint_is_left_out_loudly) {
  for (const double where : {0.0, 0.3, 0.6, 0.99}) {
    const Folder folder;
    ASSERT_EQ(run({folder.path(), {"epochs=2", "steps=4", "save_every=2", "kill_at=6"}}), -SIGKILL);
    const auto files = martello::list_checkpoints(folder.path());
    ASSERT_GE(files.size(), 2u);
    flip_a_bit(files[0].path, static_cast<size_t>(where * static_cast<double>(fs::file_size(files[0].path))));
    expect_goes_on(folder);
    EXPECT_NE(folder.log().find("' cannot be used"), std::string::npos);
    EXPECT_NE(folder.log().find("[resume '" + files[1].path), std::string::npos) << "the one before it";
  }
}

TEST(Chaos, nothing_starts_over_when_all_checkpoints_are_damaged) {
  const Folder folder;
  ASSERT_EQ(run({folder.path(), {"epochs=2", "steps=4", "save_every=2", "kill_at=6"}}), -SIGKILL);
  for (const auto& file : martello::list_checkpoints(folder.path())) fs::resize_file(file.path, 1000);
  EXPECT_EQ(run({folder.path(), kWords}), 1);
  EXPECT_NE(folder.log().find("none of the"), std::string::npos) << folder.log();
}

TEST(Chaos, a_second_run_in_the_directory_is_refused) {
  const Folder folder;
  const pid_t first = start({folder.path(), {"epochs=2", "steps=4", "slow_ms=200"}});
  for (int i = 0; i < 100 && folder.log().find("Start epoch") == std::string::npos; ++i) usleep(20000);
  EXPECT_EQ(run({folder.path(), kWords}), 2) << "set_logger_dir() throws";
  EXPECT_NE(folder.log().find("is in use by process " + std::to_string(first)), std::string::npos) << folder.log();
  EXPECT_EQ(wait_for(first), 0);
  int logs = 0;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    logs += entry.path().filename().string().starts_with("log.log");
  EXPECT_EQ(logs, 1) << "the log of the first is where it was";
}

}  // namespace
}  // namespace chaos
