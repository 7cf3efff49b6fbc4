#include <martello/base/append_file.h>
#include <martello/base/directory_lock.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace martello {
namespace {

using testing::error_of;

class DirectoryLockTest : public ::testing::Test {
 protected:
  const testing::TestDir folder_;
  const std::string dir_ = folder_.path();
};

// What the refusal of another process says; empty: it gets the lock.
std::string refusal(const std::string& dir) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string text;
    try {
      const DirectoryLock lock(dir);
    } catch (const FailedPrecondition& e) {
      text = e.what();
    }
    _exit(write(ends[1], text.data(), text.size()) < 0);
  }
  close(ends[1]);
  std::string text(1000, '\0');
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, read(ends[0], text.data(), text.size()))));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return text;
}

TEST_F(DirectoryLockTest, is_had_by_one_process_at_a_time) {
  {
    const DirectoryLock lock(dir_);
    EXPECT_CONTAINS(refusal(dir_), "is in use by process " + std::to_string(getpid()));
  }
  EXPECT_EQ(refusal(dir_), "");
}

TEST_F(DirectoryLockTest, is_shared_within_its_process) {
  std::optional<DirectoryLock> first(dir_), second(dir_ + "/.");
  first.reset();
  EXPECT_NE(refusal(dir_), "");
  second.reset();
  EXPECT_EQ(refusal(dir_), "");
}

TEST_F(DirectoryLockTest, is_not_of_a_file_that_was_moved_away) {
  const std::string moved = dir_ + "/moved", path = dir_ + "/run";
  std::filesystem::create_directory(path);
  DirectoryLock lock(path);
  std::filesystem::rename(path, moved);
  std::filesystem::create_directory(path);
  lock = DirectoryLock(path);
  EXPECT_NE(refusal(path), "");
  EXPECT_EQ(refusal(moved), "");
}

// What a run has forked off may outlive it.
TEST_F(DirectoryLockTest, is_not_kept_by_a_process_that_was_forked_off) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t helper = 0;
  {
    const DirectoryLock lock(dir_);
    helper = fork();
    if (helper == 0) {
      close(ends[1]);
      char byte;
      _exit(static_cast<int>(read(ends[0], &byte, 1)));
    }
  }
  EXPECT_EQ(refusal(dir_), "");
  close(ends[1]);
  int status = 0;
  waitpid(helper, &status, 0);
  close(ends[0]);
}

TEST_F(DirectoryLockTest, ends_with_its_process) {
  const pid_t child = fork();
  if (child == 0) {
    const DirectoryLock lock(dir_);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const DirectoryLock lock(dir_);
}

TEST_F(DirectoryLockTest, names_a_directory_that_takes_no_file) {
  EXPECT_CONTAINS(error_of<FileError>([&] { DirectoryLock lock(dir_ + "/missing"); }), "No such file");
}

}  // namespace
}  // namespace martello
