// Preloaded into a program (LD_PRELOAD), it lets one call to the file system fail, or the process die there:
//   CHAOS_DIR    only calls about files in this directory count, log.log and the lock apart
//   CHAOS_CALL   which of them, counted from 1; 0: only count
//   CHAOS_DO     kill: dies before the call; torn: dies in the middle of it; after: dies after it; ENOSPC, EIO: it
//   fails CHAOS_COUNT  a file that gets the number of calls, one byte each CHAOS_HIT    a file that gets the name of
//   the call that failed, and of what: "fsync /tmp/run/model-2..."
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

const char* setting(const char* name) {
  const char* text = getenv(name);
  return text ? text : "";
}

bool is_watched(const std::string& path) {
  const std::string dir = setting("CHAOS_DIR");
  if (dir.empty() || path.compare(0, dir.size(), dir) != 0) return false;
  return path.find("/log.log") == std::string::npos && path.find(".lock") == std::string::npos &&
         path.find("digest") == std::string::npos;
}

std::string path_of(int file) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t size = readlink(link, path, sizeof path);
  return size < 0 ? "" : std::string(path, static_cast<size_t>(size));
}

std::atomic<int> calls = 0;

void append(const char* path, const std::string& text) {
  const int file = next<int(const char*, int, ...)>("open")(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  next<ssize_t(int, const void*, size_t)>("write")(file, text.data(), text.size());
  next<int(int)>("close")(file);
}

// What becomes of this call.
enum class Fate { normal, torn, after, fails };
Fate fate_of(const char* call, const std::string& path) {
  if (!is_watched(path)) return Fate::normal;
  if (const char* counter = setting("CHAOS_COUNT"); *counter != '\0') append(counter, ".");
  const int number = ++calls;
  if (number != atoi(setting("CHAOS_CALL"))) return Fate::normal;
  const std::string what = setting("CHAOS_DO");
  if (what == "kill") raise(SIGKILL);
  if (what == "torn") return Fate::torn;
  if (what == "after") return Fate::after;
  if (const char* hit = setting("CHAOS_HIT"); *hit != '\0') append(hit, std::string(call) + " " + path);
  errno = what == "ENOSPC" ? ENOSPC : EIO;
  return Fate::fails;
}

template <class F>
auto with_fate(const char* name, const std::string& path, F&& call) {
  const Fate fate = fate_of(name, path);
  if (fate == Fate::fails) return decltype(call())(-1);
  const auto result = call();
  if (fate != Fate::normal) raise(SIGKILL);
  return result;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
  const auto real = next<ssize_t(int, const void*, size_t)>("write");
  const Fate fate = file > 2 ? fate_of("write", path_of(file)) : Fate::normal;
  if (fate == Fate::fails) return -1;
  const ssize_t written = real(file, bytes, fate == Fate::torn ? size / 2 : size);
  if (fate != Fate::normal) raise(SIGKILL);
  return written;
}

int fsync(int file) {
  return with_fate("fsync", path_of(file), [&] { return next<int(int)>("fsync")(file); });
}

int ftruncate(int file, off_t size) noexcept {
  return with_fate("ftruncate", path_of(file), [&] { return next<int(int, off_t)>("ftruncate")(file, size); });
}

int rename(const char* from, const char* to) noexcept {
  return with_fate("rename", to, [&] { return next<int(const char*, const char*)>("rename")(from, to); });
}

int link(const char* from, const char* to) noexcept {
  return with_fate("link", to, [&] { return next<int(const char*, const char*)>("link")(from, to); });
}

int unlink(const char* path) noexcept {
  return with_fate("unlink", path, [&] { return next<int(const char*)>("unlink")(path); });
}

int remove(const char* path) noexcept {
  return with_fate("remove", path, [&] { return next<int(const char*)>("remove")(path); });
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  const auto real = [&] { return next<int(const char*, int, ...)>("open")(path, flags, mode); };
  return (flags & O_CREAT) != 0 ? with_fate("open", path, real) : real();
}
}
