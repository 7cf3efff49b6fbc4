#include <martello/base/error.h>
#include <martello/base/log.h>

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace martello::logger {
namespace {

constexpr std::string_view kLevelNames[] = {"debug", "info", "warn", "error"};
constexpr std::string_view kColors[] = {"\x1b[2m", "\x1b[32m", "\x1b[33m", "\x1b[31m"};
constexpr std::string_view kPlain = "\x1b[0m";

thread_local bool in_sink = false;

std::string time_text() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  tm local;
  localtime_r(&now.tv_sec, &local);
  char day[32], text[48];
  strftime(day, sizeof day, "%F %T", &local);
  snprintf(text, sizeof text, "%s.%03ld", day, now.tv_nsec / 1000000);
  return text;
}

std::string line_of(Level level, std::string_view text) {
  const auto i = static_cast<size_t>(level);
  const bool colored = isatty(STDERR_FILENO) && getenv("NO_COLOR") == nullptr;
  return str(time_text(), " ", colored ? kColors[i] : "", kLevelNames[i], colored ? kPlain : "", " ", text, "\n");
}

// One write(2) for a line, so that lines of other processes on the same terminal do not cut it either.
void write_to_stderr(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written >= 0) {
      line.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready = {STDERR_FILENO, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return;  // standard error is closed: there is nobody to tell
    }
  }
}

Level level_from_environment() {
  const char* text = getenv("MARTELLO_LOG_LEVEL");
  if (text == nullptr || *text == '\0') return Level::info;
  const auto found = std::find(std::begin(kLevelNames), std::end(kLevelNames), text);
  if (found != std::end(kLevelNames)) return static_cast<Level>(found - std::begin(kLevelNames));
  write_to_stderr(line_of(Level::warn, str("[logger] MARTELLO_LOG_LEVEL is '", text,
                                           "', not debug, info, warn or error. Going on with info.")));
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

}  // namespace

std::string_view to_string(Level level) { return kLevelNames[static_cast<size_t>(level)]; }

bool enabled(Level level) { return level >= state().level.load(std::memory_order_relaxed); }

bool channel_enabled(std::string_view channel) {
  const auto& channels = state().channels;
  return std::find(channels.begin(), channels.end(), channel) != channels.end();
}

void write(Level level, std::string_view text) {
  // A sink that logs holds the mutex already; its own lines go to standard error.
  if (in_sink) return write_to_stderr(line_of(level, text));
  const std::lock_guard lock(state().mutex);
  if (!state().sink) return write_to_stderr(line_of(level, text));
  const InSink inside;
  state().sink(level, text);
}

void set_sink(std::function<void(Level, std::string_view)> sink) {
  if (in_sink) throw FailedPrecondition("[logger] set_sink() inside a sink would replace the function that runs.");
  const std::lock_guard lock(state().mutex);
  state().sink = std::move(sink);
}

void set_level(Level level) { state().level.store(level, std::memory_order_relaxed); }

}  // namespace martello::logger
