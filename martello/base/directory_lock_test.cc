#include <martello/base/append_file.h>
#include <martello/base/directory_lock.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace martello {
namespace {

using testing::error_of;

class DirectoryLockTest : public ::testing::Test {
 protected:
  const testing::TestDir folder_;
  const std::string dir_ = folder_.path();
};

TEST_F(DirectoryLockTest, is_had_by_one_at_a_time) {
  {
    const DirectoryLock lock(dir_);
    const std::string text = error_of<FailedPrecondition>([&] { DirectoryLock second(dir_); });
    EXPECT_CONTAINS(text, "is in use by process " + std::to_string(getpid()));
  }
  const DirectoryLock again(dir_);
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
