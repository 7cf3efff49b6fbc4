#pragma once
#include <string>

namespace martello {

namespace internal {
struct LockFile;
}  // namespace internal

// While one lives no other process gets a lock of the same directory; holders in this process share it, of which one at
// a time may be the only one of its kind. The operating system gives it back when the process ends, however it ends. A
// process that is forked off does not have it, so that one that outlives a run does not keep the directory from the
// next.
class DirectoryLock {
 public:
  enum class Kind { shared, sole };
  // FailedPrecondition, with the number of the process that has it, when it is taken; FileError when nothing can be
  // written there.
  explicit DirectoryLock(const std::string& dir, Kind kind = Kind::shared);
  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;

  static constexpr const char* kFileName = ".martello.lock";

 private:
  internal::LockFile* file_;
  Kind kind_;
};

}  // namespace martello
