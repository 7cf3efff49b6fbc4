#include <martello/base/append_file.h>
#include <martello/base/directory_lock.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace martello {
namespace {

std::string holder_of(int file) {
  char text[32] = {};
  const ssize_t size = pread(file, text, sizeof text - 1, 0);
  return size > 0 ? str("process ", std::string_view(text, static_cast<size_t>(size))) : "another process";
}

}  // namespace

DirectoryLock::DirectoryLock(const std::string& dir) {
  const std::string path = str(dir, "/", kFileName);
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw FileError(str("[file '", path, "'] cannot open: ", strerror(errno), "."));
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    const int cause = errno;
    const std::string holder = holder_of(file_);
    ::close(file_);
    if (cause != EWOULDBLOCK) throw FileError(str("[file '", path, "'] cannot lock: ", strerror(cause), "."));
    throw FailedPrecondition(str("[directory '", dir, "'] is in use by ", holder,
                                 ". Two runs would overwrite each other's files: choose another directory."));
  }
  const std::string number = str(static_cast<int64_t>(getpid()));
  // Only told to whoever is refused.
  [[maybe_unused]] const bool is_told =
      ftruncate(file_, 0) == 0 && pwrite(file_, number.data(), number.size(), 0) == static_cast<ssize_t>(number.size());
}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) ::close(file_);
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

}  // namespace martello
