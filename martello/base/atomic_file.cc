#include <martello/base/atomic_file.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace martello {
namespace {

[[noreturn]] void fail(const std::string& path, std::string_view what) {
  throw FileError(str("[file '", path, "'] cannot ", what, ": ", strerror(errno), "."));
}

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

void sync_directory(const std::string& dir) {
  const int file = ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) fail(dir, "open");
  const int result = fsync(file);
  const int cause = errno;
  ::close(file);
  errno = cause;
  // Some file systems cannot sync a directory; their renames are as durable as they get.
  if (result != 0 && errno != EINVAL) fail(dir, "sync");
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), part_(path + ".part"), file_(part_) {
  try {
    file_.cut(0);  // what a killed process left
  } catch (...) {
    ::unlink(part_.c_str());
    throw;
  }
}

AtomicFile::~AtomicFile() {
  if (!file_.is_open()) return;
  file_.close();
  ::unlink(part_.c_str());
}

void AtomicFile::append(std::string_view bytes) {
  MARTELLO_ASSERT(file_.is_open(), "'", path_, "' is appended to after its commit.");
  file_.append(bytes);
}

void AtomicFile::commit() {
  MARTELLO_ASSERT(file_.is_open(), "'", path_, "' is committed twice.");
  file_.sync();
  if (::rename(part_.c_str(), path_.c_str()) != 0) fail(path_, "rename the part to");
  file_.close();
  sync_directory(directory_of(path_));
}

}  // namespace martello
