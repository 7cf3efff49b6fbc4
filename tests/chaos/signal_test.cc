// A run that is asked to end saves, ends in time with its code, and goes on when it is started again.
#include "driver.h"

#include <martello/train/checkpoint.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <random>

namespace chaos {
namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

const Words kWords = {"epochs=3", "steps=12", "slow_ms=3"};

void wait_until(const Folder& folder, const std::string& text) {
  for (int i = 0; i < 500 && folder.log().find(text) == std::string::npos; ++i) usleep(10000);
}

void expect_goes_on(const Folder& folder, const Words& words) {
  ASSERT_EQ(run({folder.path(), words}), 0) << folder.log();
  EXPECT_EQ(folder.read("digest.txt"), undisturbed(words));
}

TEST(Chaos, sigterm_at_any_time_saves_and_ends_with_143) {
  std::mt19937 random(11);
  std::vector<double> seconds;
  const int most = 25 * effort();
  while (static_cast<int>(seconds.size()) < most) {
    const Folder folder;
    for (int code = 143; code != 0;) {
      const pid_t process = start({folder.path(), kWords});
      usleep(static_cast<useconds_t>(15000 + random() % 180000));
      const auto sent = Clock::now();
      for (int i = 0; i < 2; ++i) kill(process, SIGTERM), usleep(random() % 3000);
      code = wait_for(process);
      // Before the program has reached its own code there is nobody to handle it.
      ASSERT_TRUE(code == 0 || code == 143 || code == -SIGTERM) << code << folder.log();
      if (code == 143) seconds.push_back(std::chrono::duration<double>(Clock::now() - sent).count());
    }
    ASSERT_EQ(folder.read("digest.txt"), undisturbed(kWords));
  }
  std::sort(seconds.begin(), seconds.end());
  EXPECT_LT(seconds[seconds.size() * 99 / 100], 2.0);
  RecordProperty("longest_milliseconds", static_cast<int>(1000 * seconds.back()));
}

TEST(Chaos, an_interruption_loses_no_step) {
  const Folder folder;
  const Words words = {"epochs=2", "steps=40", "save_every=1000", "slow_ms=10"};
  const pid_t process = start({folder.path(), words});
  wait_until(folder, "Start epoch");
  usleep(150000);
  kill(process, SIGUSR1);
  ASSERT_EQ(wait_for(process), 128 + SIGUSR1) << folder.log();
  const auto files = martello::list_checkpoints(folder.path());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_GT(files[0].info->global_step, 0);
  expect_goes_on(folder, words);
}

TEST(Chaos, files_ask_for_a_checkpoint_and_for_the_end) {
  const Folder folder;
  const Words words = {"epochs=2", "steps=2000", "save_every=100000", "slow_ms=20"};
  const pid_t process = start({folder.path(), words});
  wait_until(folder, "Start epoch");
  std::ofstream(folder.path() + "/save") << "";
  wait_until(folder, "[checkpoints] saved");
  EXPECT_EQ(folder.list(".safetensors").size(), 1u);
  std::ofstream(folder.path() + "/stop") << "";
  EXPECT_EQ(wait_for(process), 143) << folder.log();
  EXPECT_FALSE(folder.has("save") || folder.has("stop")) << "they ask once";
  EXPECT_EQ(folder.list(".safetensors").size(), 2u);
}

TEST(Chaos, an_error_in_a_hook_leaves_a_crash_that_is_not_resumed) {
  const Folder folder;
  const Words words = {"epochs=2", "steps=4", "save_every=3"};
  Words thrown = words;
  thrown.push_back("throw_at=5");
  EXPECT_EQ(run({folder.path(), thrown}), 1);
  ASSERT_TRUE(folder.has("crash-5.safetensors")) << folder.log();
  const auto info = martello::read_checkpoint_info(folder.path() + "/crash-5.safetensors");
  EXPECT_NE(info.end.find("thrown on purpose"), std::string::npos) << info.end;
  expect_goes_on(folder, words);
}

TEST(Chaos, a_run_that_was_stopped_for_good_does_not_go_on) {
  const Folder folder;
  const Words words = {"epochs=3", "steps=4", "stop_after=6"};
  ASSERT_EQ(run({folder.path(), words}), 0) << folder.log();
  const std::string digest = folder.read("digest.txt");
  ASSERT_EQ(run({folder.path(), {"epochs=3", "steps=4"}}), 0) << folder.log();
  EXPECT_EQ(folder.read("digest.txt"), digest);
  EXPECT_NE(folder.log().find("stopped: stopped: on purpose"), std::string::npos);
}

}  // namespace
}  // namespace chaos
