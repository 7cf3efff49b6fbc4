#include <martello/base/append_file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace martello {

AppendFile::AppendFile(const std::string& path) : path_(path) {
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  struct stat found;
  if (file_ < 0 || fstat(file_, &found) != 0) fail("open");
  size_ = found.st_size;
}

AppendFile::~AppendFile() { close(); }

AppendFile::AppendFile(AppendFile&& other) noexcept { *this = std::move(other); }

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  return *this;
}

void AppendFile::fail(std::string_view what) const {
  throw FileError(str("[file '", path_, "'] cannot ", what, ": ", strerror(errno), "."));
}

void AppendFile::append(std::string_view bytes) {
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      const int cause = errno;
      // Best effort: a device has no length to restore.
      [[maybe_unused]] const int ignored = ftruncate(file_, size_);
      errno = cause;
      fail("append");
    }
  }
  size_ += static_cast<int64_t>(bytes.size());
  // The disk begins while the next bytes are made, so that a sync at the end has less to wait for.
  constexpr size_t kLarge = 1 << 20;
  if (bytes.size() >= kLarge)
    sync_file_range(file_, size_ - static_cast<int64_t>(bytes.size()), static_cast<int64_t>(bytes.size()),
                    SYNC_FILE_RANGE_WRITE);
}

void AppendFile::sync() {
  if (fsync(file_) != 0) fail("sync");
}

void AppendFile::cut(int64_t size) {
  MARTELLO_CHECK(0 <= size && size <= size_, "[file '", path_, "'] has ", size_, " bytes and cannot be cut to ", size,
                 ".");
  if (ftruncate(file_, size) != 0) fail("cut");
  size_ = size;
}

void AppendFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

}  // namespace martello
