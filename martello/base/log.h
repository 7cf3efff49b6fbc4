#pragma once
#include <martello/base/strings.h>

#include <functional>
#include <string_view>

// Thread-safe logging to standard error. Levels by MARTELLO_LOG_LEVEL (debug, info, warn, error; default info); detail
// channels by MARTELLO_LOG=plan,session (default none). A line is written whole.
namespace martello::logger {

enum class Level { debug, info, warn, error };
std::string_view to_string(Level level);

bool enabled(Level level);
bool channel_enabled(std::string_view channel);
void write(Level level, std::string_view text);
// Takes over all lines (tests, embedding programs); an empty sink restores standard error.
void set_sink(std::function<void(Level, std::string_view)> sink);
void set_level(Level level);

template <class... T>
void debug(const T&... parts) {
  if (enabled(Level::debug)) write(Level::debug, str(parts...));
}
template <class... T>
void info(const T&... parts) {
  if (enabled(Level::info)) write(Level::info, str(parts...));
}
template <class... T>
void warn(const T&... parts) {
  if (enabled(Level::warn)) write(Level::warn, str(parts...));
}
template <class... T>
void error(const T&... parts) {
  if (enabled(Level::error)) write(Level::error, str(parts...));
}
// Detail that is off unless asked for: logger::detail("plan", "matmul: brgemm refused, using gemm").
template <class... T>
void detail(std::string_view channel, const T&... parts) {
  if (channel_enabled(channel)) write(Level::info, str("[", channel, "] ", parts...));
}

}  // namespace martello::logger
