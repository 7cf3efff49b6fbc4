#pragma once
#include <martello/base/error.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace martello {

// The file system refused: full disk, no permission, input/output error. Names the file and the cause.
class FileError : public Error {
 public:
  using Error::Error;
};

// A file that grows by whole records. An append that fails leaves the file as it was, so that what is there can always
// be read, and a later append goes on behind it.
class AppendFile {
 public:
  AppendFile() = default;
  explicit AppendFile(const std::string& path);  // goes on behind what is there
  ~AppendFile();
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;

  bool is_open() const { return file_ >= 0; }
  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }
  void append(std::string_view bytes);
  void sync();             // survives a crash of the machine once it returns
  void cut(int64_t size);  // drops what lies behind
  void close();

 private:
  [[noreturn]] void fail(std::string_view what) const;

  int file_ = -1;
  int64_t size_ = 0;
  std::string path_;
};

}  // namespace martello
