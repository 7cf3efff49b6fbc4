#pragma once
#include <string>

namespace martello {

namespace internal {
struct LockFile;
}  // namespace internal

// While one lives no other process gets a lock of the same directory; holders in this process share it. The operating
// system gives it back when the process ends, however it ends. A process that is forked off does not have it, so that
// one that outlives a run does not keep the directory from the next.
class DirectoryLock {
 public:
  // FailedPrecondition, with the number of the process that has it, when it is taken; FileError when nothing can be
  // written there.
  explicit DirectoryLock(const std::string& dir);
  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;

  static constexpr const char* kFileName = ".martello.lock";

 private:
  internal::LockFile* file_;
};

}  // namespace martello
