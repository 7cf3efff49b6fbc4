#include <martello/base/append_file.h>
#include <martello/base/directory_lock.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <utility>

namespace martello {
namespace internal {

struct LockFile {
  int file = -1;  // below 0: it is the lock of the process that this one was forked off
  struct stat found = {};
  int num_holders = 0;
  bool has_sole = false;  // among them

  bool is(const struct stat& other) const {
    return file >= 0 && found.st_dev == other.st_dev && found.st_ino == other.st_ino;
  }
};

}  // namespace internal

namespace {

using internal::LockFile;

struct Locks {
  std::mutex mutex;
  std::list<LockFile> files;
};

// Of this process. Never destroyed: static objects may still hold some.
Locks& locks() {
  static Locks& locks = *new Locks;
  return locks;
}

// A lock belongs to the open file, which a forked process has as well until it closes it.
void give_up_after_fork() {
  for (LockFile& f : locks().files) {
    if (f.file >= 0) ::close(f.file);
    f.file = -1;
  }
  locks().mutex.unlock();
}

void watch_forks() {
  [[maybe_unused]] static const int once =
      pthread_atfork([] { locks().mutex.lock(); }, [] { locks().mutex.unlock(); }, give_up_after_fork);
}

[[noreturn]] void fail(const std::string& path, std::string_view what) {
  throw FileError(str("[file '", path, "'] cannot ", what, ": ", strerror(errno), "."));
}

[[noreturn]] void refuse(const std::string& dir, const std::string& holder) {
  throw FailedPrecondition(str("[directory '", dir, "'] is in use by ", holder,
                               ". Two runs would overwrite each other's files: choose another directory."));
}

std::string holder_of(int file) {
  char text[32] = {};
  const ssize_t size = pread(file, text, sizeof text - 1, 0);
  return size > 0 ? str("process ", std::string_view(text, static_cast<size_t>(size))) : "another process";
}

// Only told to whoever is refused.
void tell_holder(int file) {
  const std::string number = str(static_cast<int64_t>(getpid()));
  [[maybe_unused]] const bool is_told =
      ftruncate(file, 0) == 0 && pwrite(file, number.data(), number.size(), 0) == static_cast<ssize_t>(number.size());
}

// Closed unless it is kept.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_ < 0 || fstat(file_, &found_) != 0) fail(path, "open");
  }
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  void lock(const std::string& dir) const {
    if (flock(file_, LOCK_EX | LOCK_NB) == 0) return tell_holder(file_);
    if (errno != EWOULDBLOCK) fail(path_, "lock");
    refuse(dir, holder_of(file_));
  }
  // Whoever had the lock may have deleted the file, or moved it away with its directory.
  bool is_at_its_path() const {
    struct stat there;
    return stat(path_.c_str(), &there) == 0 && there.st_dev == found_.st_dev && there.st_ino == found_.st_ino;
  }
  const struct stat& found() const { return found_; }
  int keep() { return std::exchange(file_, -1); }

 private:
  const std::string& path_;
  int file_;
  struct stat found_ = {};
};

LockFile* take(const std::string& dir) {
  const std::string path = str(dir, "/", DirectoryLock::kFileName);
  for (;;) {
    OpenFile file(path);
    for (LockFile& f : locks().files)
      if (f.is(file.found())) return &f;
    file.lock(dir);
    if (!file.is_at_its_path()) continue;
    locks().files.push_back({.file = file.keep(), .found = file.found()});
    return &locks().files.back();
  }
}

}  // namespace

DirectoryLock::DirectoryLock(const std::string& dir, Kind kind) : kind_(kind) {
  watch_forks();
  const std::lock_guard lock(locks().mutex);
  file_ = take(dir);
  if (kind == Kind::sole && file_->has_sole) refuse(dir, "another part of this process");
  file_->has_sole |= kind == Kind::sole;
  ++file_->num_holders;
}

DirectoryLock::~DirectoryLock() {
  const std::lock_guard lock(locks().mutex);
  if (!file_) return;
  if (kind_ == Kind::sole) file_->has_sole = false;
  if (--file_->num_holders > 0) return;
  if (file_->file >= 0) ::close(file_->file);
  locks().files.remove_if([this](const LockFile& f) { return &f == file_; });
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)), kind_(other.kind_) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(kind_, other.kind_);
  return *this;
}

}  // namespace martello
