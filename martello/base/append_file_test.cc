#include <martello/base/append_file.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>

#include <signal.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace martello {
namespace {

using testing::error_of;

struct AppendFileTest : ::testing::Test {
  std::string text() const { return folder.read("rows"); }
  const testing::TestDir folder;
  const std::string dir = folder.path(), path = folder.file("rows");
};

TEST_F(AppendFileTest, goes_on_behind_what_is_there) {
  AppendFile(path).append("one\n");
  AppendFile file(path);
  EXPECT_EQ(file.size(), 4);
  file.append("two\n");
  file.sync();
  EXPECT_EQ(file.size(), 8);
  EXPECT_EQ(text(), "one\ntwo\n");
}

TEST_F(AppendFileTest, is_cut_back_to_a_length) {
  AppendFile file(path);
  file.append("one\ntwo\n");
  file.cut(4);
  file.append("three\n");
  EXPECT_EQ(text(), "one\nthree\n");
  EXPECT_CONTAINS(error_of([&] { file.cut(11); }), "has 10 bytes and cannot be cut to 11");
}

TEST_F(AppendFileTest, names_file_and_cause_when_it_cannot_open) {
  EXPECT_CONTAINS(error_of<FileError>([&] { AppendFile(dir + "/missing/rows"); }), "No such file or directory");
}

TEST_F(AppendFileTest, names_the_full_disk) {
  AppendFile file("/dev/full");
  EXPECT_CONTAINS(error_of<FileError>([&] { file.append("row"); }),
                  "[file '/dev/full'] cannot append: No space left on device.");
}

// A limit of the process stands for a disk that fills in the middle of a record.
TEST_F(AppendFileTest, a_record_that_does_not_fit_leaves_no_trace) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [&] {
    signal(SIGXFSZ, SIG_IGN);
    AppendFile file(path);
    file.append("first\n");
    const rlimit limit = {10, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      file.append("a long record\n");
    } catch (const FileError&) {
      file.append("2nd\n");
      std::_Exit(text() == "first\n2nd\n" ? 0 : 1);
    }
    std::_Exit(2);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

TEST_F(AppendFileTest, moves) {
  AppendFile a(path);
  AppendFile b = std::move(a);
  b.append("x");
  EXPECT_FALSE(a.is_open());  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): it is the test
  EXPECT_EQ(text(), "x");
}

}  // namespace
}  // namespace martello
