#include <martello/base/atomic_file.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace martello {
namespace {

namespace fs = std::filesystem;
using testing::error_of;

class AtomicFileTest : public ::testing::Test {
 protected:
  static std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  const testing::TestDir folder_;
  const fs::path dir_ = folder_.path();
};

TEST_F(AtomicFileTest, appears_with_its_commit) {
  const fs::path path = dir_ / "model";
  {
    AtomicFile file(path);
    file.append("one ");
    file.append("two");
    EXPECT_FALSE(fs::exists(path));
    file.commit();
    EXPECT_EQ(text_of(path), "one two");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 1);
}

TEST_F(AtomicFileTest, leaves_the_old_one_without_a_commit) {
  const fs::path path = dir_ / "model";
  std::ofstream(path) << "old";
  { AtomicFile(path).append("new"); }
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 1);
}

TEST_F(AtomicFileTest, replaces_the_old_one_and_what_a_killed_process_left) {
  const fs::path path = dir_ / "model";
  std::ofstream(path) << "old";
  std::ofstream(path.string() + ".part") << "a longer part of something";
  AtomicFile file(path);
  file.append("new");
  file.commit();
  EXPECT_EQ(text_of(path), "new");
}

TEST_F(AtomicFileTest, names_the_file_and_the_cause) {
  const std::string path = (dir_ / "missing" / "model").string();
  const std::string text = error_of<FileError>([&] { AtomicFile file(path); });
  EXPECT_CONTAINS(text, path);
  EXPECT_CONTAINS(text, "No such file or directory");
  EXPECT_CONTAINS(error_of<FileError>([&] { sync_directory((dir_ / "missing").string()); }), "cannot open");
}

}  // namespace
}  // namespace martello
