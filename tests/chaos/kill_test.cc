// A run that is killed goes on as if nothing had been: the same bits, samples and rows.
#include "driver.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <random>

namespace chaos {
namespace {

using Words = std::vector<std::string>;

Words with(Words words, const std::string& one) {
  words.push_back(one);
  return words;
}

// One run, killed at every step from `first` to `last` in turn.
void kill_at_steps(const Words& words, int first, int last) {
  const Folder folder;
  for (int step = first; step <= last; ++step) {
    const Words all = with(with(words, "kill_at=" + std::to_string(step)), "threads=" + std::to_string(1 + step % 8));
    ASSERT_EQ(run({folder.path(), all}), -SIGKILL) << "at step " << step << "\n" << folder.log();
  }
  ASSERT_EQ(run({folder.path(), words}), 0) << folder.log();
  EXPECT_EQ(folder.read("digest.txt"), undisturbed(words));
  EXPECT_TRUE(folder.list(".part").empty());
}

TEST(Chaos, the_digest_of_a_run_is_repeatable) {
  const Folder folder;
  const Words words = {"epochs=3", "steps=8"};
  ASSERT_EQ(run({folder.path(), with(words, "threads=7")}), 0) << folder.log();
  EXPECT_EQ(folder.read("digest.txt"), undisturbed(words));
  EXPECT_GT(folder.read("digest.txt").size(), 4000u);
}

TEST(Chaos, killed_at_a_hundred_consecutive_steps) { kill_at_steps({"epochs=4", "steps=26"}, 1, 100); }

TEST(Chaos, killed_between_saves) {
  const Words words = {"epochs=2", "steps=9", "save_every=5"};
  for (int step : {2, 6, 9, 11, 14, 18}) {
    const Folder folder;
    ASSERT_EQ(run({folder.path(), with(words, "kill_at=" + std::to_string(step))}), -SIGKILL);
    ASSERT_EQ(run({folder.path(), words}), 0) << folder.log();
    EXPECT_EQ(folder.read("digest.txt"), undisturbed(words)) << "killed at step " << step;
  }
}

TEST(Chaos, killed_while_gradients_accumulate) { kill_at_steps({"epochs=2", "steps=7", "accumulate=3"}, 1, 13); }

// Kills until the run has finished; the number of kills.
int kill_until_finished(const Folder& folder, const Words& words, std::mt19937& random, int most) {
  for (int kills = 0;;) {
    const pid_t process = start({folder.path(), words});
    if (kills < most) {
      usleep(static_cast<useconds_t>(random() % 180000));
      kill(process, SIGKILL);
    }
    const int code = wait_for(process);
    if (code != -SIGKILL) {
      EXPECT_EQ(code, 0) << folder.log();
      return kills;
    }
    ++kills;
  }
}

TEST(Chaos, killed_at_random_times) {
  const Words words = {"epochs=3", "steps=12", "slow_ms=3"};
  std::mt19937 random(7);
  for (int kills = 0, most = 200 * effort(); kills < most;) {
    const Folder folder;
    kills += kill_until_finished(folder, words, random, most - kills);
    ASSERT_EQ(folder.read("digest.txt"), undisturbed(words));
  }
}

}  // namespace
}  // namespace chaos
