#pragma once
#include <string>

namespace martello {

// One process, and one holder in it, at a time: while it lives nobody else gets a lock of the same directory. The
// operating system gives it back when the process ends, however it ends.
class DirectoryLock {
 public:
  // FailedPrecondition, with the number of the process that has it, when it is taken; FileError when nothing can be
  // written there.
  explicit DirectoryLock(const std::string& dir);
  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;

  static constexpr const char* kFileName = ".martello.lock";

 private:
  int file_ = -1;
};

}  // namespace martello
