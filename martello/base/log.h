#pragma once
#include <martello/base/source_line.h>
#include <martello/base/strings.h>

#include <functional>
#include <string>
#include <string_view>

// Thread-safe logging to standard error, and to log.log in the logger's directory once there is one (logger_dir.h):
//   [1115 14:02:07 @trainer.cc:81] WRN the text
// Levels by MARTELLO_LOG_LEVEL (debug, info, warn, error; default info); detail channels by MARTELLO_LOG=plan,session
// (default none). A line is written whole; colors only on a terminal.
namespace martello::logger {

enum class Level { debug, info, warn, error };
std::string_view to_string(Level level);

bool enabled(Level level);
bool channel_enabled(std::string_view channel);
void write(Level level, std::string_view text, SourceLine line = SourceLine::current());
// Takes over the lines of standard error (tests, embedding programs); an empty sink restores it.
void set_sink(std::function<void(Level, std::string_view)> sink);
void set_level(Level level);

// The first part of a line, and where it is written. Looks at its value only when the line is wanted.
class First {
 public:
  template <class T>
  First(const T& value, SourceLine line = SourceLine::current()) : value_(&value), line_(line) {
    append_ = [](std::string& out, const void* v) { internal::append(out, *static_cast<const T*>(v)); };
  }
  template <class... T>
  std::string with(const T&... rest) const {
    std::string out;
    append_(out, value_);
    (internal::append(out, rest), ...);
    return out;
  }
  SourceLine line() const { return line_; }

 private:
  const void* value_;
  void (*append_)(std::string&, const void*);
  SourceLine line_;
};

template <class... T>
void debug(First first, const T&... rest) {
  if (enabled(Level::debug)) write(Level::debug, first.with(rest...), first.line());
}
template <class... T>
void info(First first, const T&... rest) {
  if (enabled(Level::info)) write(Level::info, first.with(rest...), first.line());
}
template <class... T>
void warn(First first, const T&... rest) {
  if (enabled(Level::warn)) write(Level::warn, first.with(rest...), first.line());
}
template <class... T>
void error(First first, const T&... rest) {
  if (enabled(Level::error)) write(Level::error, first.with(rest...), first.line());
}
// Detail that is off unless asked for: logger::detail("plan", "matmul: brgemm refused, using gemm").
template <class... T>
void detail(First channel, const T&... parts) {
  const std::string name = channel.with();
  if (channel_enabled(name)) write(Level::info, str("[", name, "] ", parts...), channel.line());
}

}  // namespace martello::logger
