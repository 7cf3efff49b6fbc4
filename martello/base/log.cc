#include <martello/base/error.h>
#include <martello/base/internal/log_file.h>
#include <martello/base/log.h>

#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace martello::logger {
namespace {

constexpr std::string_view kLevelNames[] = {"debug", "info", "warn", "error"};
constexpr std::string_view kTags[] = {" DBG", "", " WRN", " ERR"};
constexpr std::string_view kColors[] = {"\x1b[34m", "", "\x1b[33m", "\x1b[31m"};
constexpr std::string_view kGreen = "\x1b[32m", kPlain = "\x1b[0m";

thread_local bool in_sink = false;

std::string time_text(const char* format) {
  const time_t now = time(nullptr);
  tm local;
  localtime_r(&now, &local);
  char text[32];
  strftime(text, sizeof text, format, &local);
  return text;
}

bool is_colored() { return isatty(STDERR_FILENO) && getenv("NO_COLOR") == nullptr; }

std::string line_of(Level level, std::string_view text, SourceLine line, bool colored) {
  const auto i = static_cast<size_t>(level);
  const auto paint = [&](std::string_view color) { return colored && !kTags[i].empty() ? color : ""; };
  return str(colored ? kGreen : "", "[", time_text("%m%d %T"), line.known() ? " @" : "", line.str(), "]",
             colored ? kPlain : "", paint(kColors[i]), kTags[i], paint(kPlain), " ", text, "\n");
}

// One write(2) for a line, so that lines of other processes on the same terminal do not cut it either. The error, or 0.
int write_line(int file, std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(file, line.data(), line.size());
    if (written >= 0) {
      line.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready = {file, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// When standard error is closed there is nobody to tell.
void write_to_stderr(Level level, std::string_view text, SourceLine line = {}) {
  write_line(STDERR_FILENO, line_of(level, text, line, is_colored()));
}

Level level_from_environment() {
  const char* text = getenv("MARTELLO_LOG_LEVEL");
  if (text == nullptr || *text == '\0') return Level::info;
  const auto found = std::find(std::begin(kLevelNames), std::end(kLevelNames), text);
  if (found != std::end(kLevelNames)) return static_cast<Level>(found - std::begin(kLevelNames));
  write_to_stderr(Level::warn, str("[logger] MARTELLO_LOG_LEVEL is '", text,
                                   "', not debug, info, warn or error. Going on with info."));
  return Level::info;
}

std::vector<std::string> channels_from_environment() {
  const char* text = getenv("MARTELLO_LOG");
  return text == nullptr ? std::vector<std::string>() : split(text, ',');
}

struct State {
  std::atomic<Level> level = level_from_environment();
  const std::vector<std::string> channels = channels_from_environment();
  std::mutex mutex;
  std::function<void(Level, std::string_view)> sink;
  int file = -1;
  std::string file_path;
  bool file_failed = false;
};

// Never destroyed: destructors of static objects may still log.
State& state() {
  static State& state = *new State;
  return state;
}

struct InSink {
  InSink() { in_sink = true; }
  ~InSink() { in_sink = false; }
};

// Why the file takes no lines, the first time; else "".
std::string write_to_file(std::string_view line) {
  if (state().file < 0) return "";
  const int error = write_line(state().file, line);
  const bool is_new = error != 0 && !state().file_failed;
  state().file_failed = error != 0;
  if (!is_new) return "";
  return str("[logger] cannot write '", state().file_path, "': ", strerror(error), ". It misses lines.");
}

void write_to_console(Level level, std::string_view text, SourceLine line) {
  if (!state().sink) return write_to_stderr(level, text, line);
  const InSink inside;
  state().sink(level, text);
}

}  // namespace

std::string_view to_string(Level level) { return kLevelNames[static_cast<size_t>(level)]; }

bool enabled(Level level) { return level >= state().level.load(std::memory_order_relaxed); }

bool channel_enabled(std::string_view channel) {
  const auto& channels = state().channels;
  return std::find(channels.begin(), channels.end(), channel) != channels.end();
}

void write(Level level, std::string_view text, SourceLine line) {
  // A sink that logs holds the mutex already; its own lines go to standard error.
  if (in_sink) return write_to_stderr(level, text, line);
  const std::lock_guard lock(state().mutex);
  const std::string failure = write_to_file(line_of(level, text, line, false));
  if (!failure.empty()) write_to_console(Level::error, failure, {});
  write_to_console(level, text, line);
}

void set_sink(std::function<void(Level, std::string_view)> sink) {
  if (in_sink) throw FailedPrecondition("[logger] set_sink() inside a sink would replace the function that runs.");
  const std::lock_guard lock(state().mutex);
  state().sink = std::move(sink);
}

void set_level(Level level) { state().level.store(level, std::memory_order_relaxed); }

}  // namespace martello::logger

namespace martello::internal {

std::string time_suffix() { return logger::time_text("%m%d-%H%M%S"); }

std::string unused_path(const std::string& path) {
  const std::string first = str(path, ".", time_suffix());
  std::string unused = first;
  for (int i = 1; access(unused.c_str(), F_OK) == 0; ++i) unused = str(first, "-", i);
  return unused;
}

void set_log_file(const std::string& path) {
  const std::lock_guard lock(logger::state().mutex);
  if (logger::state().file >= 0) ::close(logger::state().file);
  logger::state().file = -1;
  logger::state().file_path = path;
  logger::state().file_failed = false;
  if (path.empty()) return;
  const bool is_moved = access(path.c_str(), F_OK) != 0 || rename(path.c_str(), unused_path(path).c_str()) == 0;
  if (is_moved) logger::state().file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  MARTELLO_CHECK(logger::state().file >= 0, "[logger] cannot write '", path, "': ", strerror(errno),
                 ". Choose a directory that this user may write to.");
}

}  // namespace martello::internal
