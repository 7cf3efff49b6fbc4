#pragma once
#include <martello/base/append_file.h>

#include <string>
#include <string_view>

namespace martello {

// A file that is there whole or not at all: written aside as `path`.part, synced, renamed, and its directory synced.
// What stood at `path` before stays until commit() returns; without a commit() the part is removed.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::string_view bytes);
  void commit();  // once; nothing can be appended afterwards

 private:
  std::string path_;
  std::string part_;
  AppendFile file_;
};

// The names in a directory survive a crash of the machine once it returns.
void sync_directory(const std::string& dir);

}  // namespace martello
