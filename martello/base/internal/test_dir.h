#pragma once
#include <martello/base/logger_dir.h>
#include <martello/base/strings.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace martello::testing {

// A directory for files of one test, which ends with it; so does logging into it.
class TestDir {
 public:
  TestDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "martello_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TestDir() {
    logger::close_logger_dir();
    std::filesystem::remove_all(path_);
  }
  TestDir(const TestDir&) = delete;
  TestDir& operator=(const TestDir&) = delete;
  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return str(path_, "/", name); }
  std::string read(std::string_view name) const {
    std::ifstream file(this->file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void write(std::string_view name, std::string_view text) const {
    std::ofstream(file(name), std::ios::binary) << text;
  }
  // Names that begin so.
  std::vector<std::string> list(std::string_view prefix) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      if (entry.path().filename().string().starts_with(prefix)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

}  // namespace martello::testing
