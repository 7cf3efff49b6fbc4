#pragma once
#include <martello/base/source_line.h>
#include <martello/base/strings.h>

#include <exception>
#include <string>
#include <utility>

namespace martello {

// Base of everything the library throws. The message reads `[component 'node'] what is wrong, with both values. The way
// out.`; while an error passes the executor or a trainer it gains context lines and keeps its type.
class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  // Appends "\n  line".
  void add_context(std::string_view line) {
    message_ += "\n  ";
    message_ += line;
  }
  // Appends "\n  at model.cc:12" unless it is there.
  void add_line(const SourceLine& line);

 private:
  std::string message_;
};

// The user asked for something impossible.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};
// A name, file or key does not exist.
class NotFound : public Error {
 public:
  using Error::Error;
};
// Right call, wrong time: the graph is finalized, the session is closed ...
class FailedPrecondition : public Error {
 public:
  using Error::Error;
};
// We broke our own promise.
class InternalError : public Error {
 public:
  using Error::Error;
};

// Runs `f`: its nodes get the user's line, and its errors show it.
template <class F>
decltype(auto) with_line(const SourceLine& line, F&& f) {
  const SourceLine shown = LineScope::effective(line);
  const LineScope scope(line);
  try {
    return f();
  } catch (Error& e) {
    e.add_line(shown);
    throw;
  }
}

namespace internal {
[[noreturn]] void throw_invalid_argument(std::string message);
[[noreturn]] void throw_internal_error(const char* file, int line, const char* condition, const std::string& message);
}  // namespace internal
}  // namespace martello

// The user asked for something impossible: throws InvalidArgument. The message is mandatory.
#define MARTELLO_CHECK(condition, ...)                                            \
  do {                                                                            \
    if (!(condition)) [[unlikely]]                                                \
      ::martello::internal::throw_invalid_argument(::martello::str(__VA_ARGS__)); \
  } while (false)

// We broke our own promise: throws InternalError with file, line and a request to report it.
#define MARTELLO_ASSERT(condition, ...)                                                                         \
  do {                                                                                                          \
    if (!(condition)) [[unlikely]]                                                                              \
      ::martello::internal::throw_internal_error(__FILE__, __LINE__, #condition, ::martello::str(__VA_ARGS__)); \
  } while (false)
